// The list of conversations: views, channels with their topics, direct messages.

import { computed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button, bind, set } from '../parts/basics.tsx'
import { attempt, Icon } from '../parts/controls.tsx'
import { hueOf, initials } from '../parts/format.ts'
import { go, writeHref } from '../route.ts'
import { actor, call } from '../session.ts'
import { type Narrow, writeNarrow } from './narrow.ts'
import {
  channelKey,
  channels,
  directKey,
  directs,
  fetchTopics,
  messages,
  narrow,
  unread,
  unreadCounts,
  users,
} from './store.ts'

const here = computed(() => writeHref('conversations', ...writeNarrow(narrow.value)))

/** Rows shown at first: an organization can have thousands of channels. */
const shownAtFirst = 200

export function Sidebar() {
  const filter = useSignal('')
  const all = useSignal(false)
  const wanted = filter.value.trim().toLowerCase()
  const fitting = [...channels.value.values()].filter(
    ({ name, is_archived }) => !is_archived && name.toLowerCase().includes(wanted),
  )
  const own = fitting.filter(({ subscribed }) => subscribed)
  const others = fitting.filter(({ subscribed }) => !subscribed)
  const people = peopleFor(wanted)
  const limit = all.value ? Number.POSITIVE_INFINITY : shownAtFirst
  return (
    <nav class="sidebar" aria-label="Conversations">
      <input
        class="input"
        type="search"
        placeholder="Find a channel or person"
        aria-label="Find a channel or person"
        {...bind(filter)}
      />
      <div class="sidebar-lists">
        <ul>
          <Entry to={{ kind: 'all' }} count={unread.value.size} mark="∗">
            All messages
          </Entry>
          <Entry to={{ kind: 'mentions' }} mark="@">
            Mentions
          </Entry>
          <Entry to={{ kind: 'starred' }} mark="★">
            Starred
          </Entry>
        </ul>
        <h3>Channels</h3>
        <ul>
          {own.slice(0, limit).map(({ stream_id, name, invite_only }) => (
            <ChannelEntry key={stream_id} id={stream_id} name={name} locked={invite_only} />
          ))}
        </ul>
        <h3>Direct messages</h3>
        <ul>
          {people.slice(0, limit).map(ids => (
            <Entry
              key={ids.join()}
              to={{ kind: 'direct', ids }}
              count={unreadCounts.value.get(directKey(ids)) ?? 0}
              person={ids[0]!}
            >
              {listNames(ids)}
            </Entry>
          ))}
        </ul>
        {others.length > 0 && <h3>Not subscribed</h3>}
        <ul>
          {others.slice(0, limit).map(({ stream_id, name, invite_only }) => (
            <ChannelEntry key={stream_id} id={stream_id} name={name} locked={invite_only} />
          ))}
        </ul>
        {Math.max(own.length, others.length, people.length) > limit && (
          <Button onClick={() => set(all, true)}>Show all</Button>
        )}
      </div>
    </nav>
  )
}

function listNames(ids: readonly number[]): string {
  if (ids.length === 1 && ids[0] === actor.value?.user_id) return 'Notes to yourself'
  return ids.map(id => users.value.get(id)?.full_name ?? `user ${id}`).join(', ')
}

/** All conversations; with a filter, all people who can be written to. */
function peopleFor(wanted: string): readonly (readonly number[])[] {
  if (wanted === '' && directs.value.length > 0) return directs.value
  const known = new Set(directs.value.map(ids => ids.join()))
  const others = [...users.value.values()].filter(
    ({ is_active, user_id }) => is_active !== false && !known.has(String(user_id)),
  )
  const found = [...directs.value, ...others.map(({ user_id }) => [user_id])]
  return wanted === '' ? found : found.filter(ids => listNames(ids).toLowerCase().includes(wanted))
}

function ChannelEntry({ id, name, locked }: { id: number; name: string; locked: boolean }) {
  const now = narrow.value
  const open = (now.kind === 'channel' || now.kind === 'topic') && now.id === id
  return (
    <>
      <Entry
        to={{ kind: 'channel', id }}
        count={unreadCounts.value.get(channelKey(id)) ?? 0}
        {...(locked ? { locked } : { mark: '#' })}
      >
        {name}
      </Entry>
      {open && <Topics id={id} />}
    </>
  )
}

function Topics({ id }: { id: number }) {
  const topics = useSignal<readonly string[]>([])
  const newest = messages.value.at(-1)?.id
  useEffect(() => {
    void fetchTopics(id).then(
      found => set(topics, found),
      () => {},
    )
  }, [id, actor.value, newest])
  return (
    <li>
      <ul class="topics">
        {topics.value.slice(0, shownAtFirst).map(topic => (
          <Entry
            key={topic}
            to={{ kind: 'topic', id, topic }}
            count={unreadCounts.value.get(channelKey(id, topic)) ?? 0}
          >
            {topic || <i>general chat</i>}
          </Entry>
        ))}
      </ul>
    </li>
  )
}

interface EntryProps {
  readonly to: Narrow
  readonly count?: number
  readonly mark?: string
  readonly locked?: boolean
  readonly person?: number
  readonly children: preact.ComponentChildren
}

function Entry({ to, count = 0, mark, locked, person, children }: EntryProps) {
  const href = writeHref('conversations', ...writeNarrow(to))
  return (
    <li>
      <a class="entry" href={href} aria-current={here.value === href ? 'page' : undefined}>
        <span class="mark" aria-hidden="true">
          {locked ? <Icon name="lock" /> : person === undefined ? mark : <Avatar id={person} small />}
        </span>
        <span class="name cut">{children}</span>
        {count > 0 && (
          <span class="count">
            {count > 999 ? '999+' : count}
            <span class="hidden"> unread</span>
          </span>
        )}
      </a>
    </li>
  )
}

export function Avatar({ id, small = false }: { id: number; small?: boolean }) {
  const name = users.value.get(id)?.full_name ?? '?'
  return (
    <span class={small ? 'avatar small' : 'avatar'} style={{ '--hue': hueOf(id) }} aria-hidden="true">
      {initials(name)}
    </span>
  )
}

export async function subscribe(name: string, on: boolean): Promise<void> {
  await attempt(() =>
    on
      ? call('POST', '/users/me/subscriptions', { subscriptions: [{ name }] })
      : call('DELETE', '/users/me/subscriptions', { subscriptions: [name] }),
  )
}

export function openDirect(ids: readonly number[]): void {
  go('conversations', ...writeNarrow({ kind: 'direct', ids }))
}
