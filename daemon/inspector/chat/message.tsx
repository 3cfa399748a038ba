// One message: who, when, what, its reactions, and what can be done with it.

import { useSignal } from '@preact/signals'
import { useErrorBoundary } from 'preact/hooks'
import { Button, bind, set } from '../parts/basics.tsx'
import { attempt, Choice, Icon } from '../parts/controls.tsx'
import { fullTime, hourAndMinute } from '../parts/format.ts'
import { explainMessage } from '../parts/why.tsx'
import { writeHref } from '../route.ts'
import { actor, call, isControlled } from '../session.ts'
import { type Conversation, listPeers, writeNarrow } from './narrow.ts'
import type { Message, Reaction } from './records.ts'
import { Rendered } from './rendered.tsx'
import { Avatar } from './sidebar.tsx'
import { channels, renderName, users } from './store.ts'
import { readWidget, type Widget } from './widget.ts'

const usual = ['thumbs_up', 'heart', 'tada', 'eyes', 'check', 'rocket', 'joy', 'question']

interface RowProps {
  readonly message: Message
  readonly showsPlace: boolean
  readonly selected: boolean
}

/** A message that cannot be drawn must not take the others with it. */
export function MessageRow(props: RowProps) {
  const [error] = useErrorBoundary(error => console.error(error))
  if (error === undefined) return <Row {...props} />
  return (
    <article class="message" data-id={props.message.id} data-selected={props.selected} tabIndex={-1}>
      <p class="faint">Message {props.message.id} cannot be shown.</p>
    </article>
  )
}

function Row({ message, showsPlace, selected }: RowProps) {
  const mode = useSignal<'read' | 'edit' | 'move' | 'react'>('read')
  const { id, sender_id, sender_full_name, timestamp, flags, content, last_edit_timestamp } = message
  const widget = readWidget(message.submessages)
  const starred = flags.includes('starred')
  const isUnread = !flags.includes('read')
  const done = () => set(mode, 'read')
  const flag = (name: string, on: boolean) =>
    attempt(() => call('POST', '/messages/flags', { messages: [id], op: on ? 'add' : 'remove', flag: name }))
  return (
    <article
      class="message"
      data-id={id}
      data-unread={isUnread}
      data-selected={selected}
      tabIndex={-1}
      aria-label={`Message ${id} from ${sender_full_name}`}
    >
      <Avatar id={sender_id} />
      <div class="message-body">
        <header>
          <b>{sender_full_name}</b>
          {users.value.get(sender_id)?.is_bot && <span class="tag">bot</span>}
          {showsPlace && <Place message={message} />}
          <time
            dateTime={new Date(timestamp * 1000).toISOString()}
            title={`${fullTime(timestamp * 1000)}, message ${id}`}
          >
            {hourAndMinute(timestamp * 1000)}
          </time>
          {last_edit_timestamp && <span class="faint">edited</span>}
          {isUnread && <span class="tag accent">unread</span>}
        </header>
        {mode.value === 'edit' ? (
          <Editor id={id} done={done} />
        ) : widget ? (
          <WidgetText widget={widget} />
        ) : (
          <Rendered html={content} />
        )}
        {mode.value === 'move' && <Mover message={message} done={done} />}
        <Reactions message={message} />
        {mode.value === 'react' && (
          <div class="palette" role="group" aria-label="React with">
            {usual.map(name => (
              <Button
                key={name}
                onClick={() => {
                  done()
                  void attempt(() => call('POST', `/messages/${id}/reactions`, { emoji_name: name }))
                }}
              >
                {glyphs[name] ?? `:${name}:`}
                <span class="hidden">{name.replaceAll('_', ' ')}</span>
              </Button>
            ))}
          </div>
        )}
      </div>
      <div class="actions" role="group" aria-label={`Actions for message ${id}`}>
        <Button look="ghost" onClick={() => set(mode, mode.value === 'react' ? 'read' : 'react')}>
          React
        </Button>
        <Button look="ghost" aria-pressed={starred} onClick={() => flag('starred', !starred)}>
          <Icon name="star" filled={starred} />
          <span class="hidden">Star</span>
        </Button>
        <Button look="ghost" onClick={() => flag('read', isUnread)}>
          {isUnread ? 'Read' : 'Unread'}
        </Button>
        {sender_id === actor.value?.user_id && (
          <Button look="ghost" onClick={() => set(mode, 'edit')}>
            Edit
          </Button>
        )}
        {message.stream_id !== undefined && (
          <Button look="ghost" onClick={() => set(mode, 'move')}>
            Move
          </Button>
        )}
        {isControlled.value && (
          <Button look="ghost" onClick={() => explainMessage(id, actor.value!.email)}>
            Why?
          </Button>
        )}
      </div>
    </article>
  )
}

function WidgetText({ widget: { title, items } }: { widget: Widget }) {
  return (
    <div class="rendered">
      <p>{title}</p>
      <ul>
        {items.map(({ key, text }) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
    </div>
  )
}

function Place({ message }: { message: Message }) {
  const { stream_id, subject, display_recipient } = message
  const place: Conversation =
    stream_id === undefined
      ? { kind: 'direct', ids: listPeers(message, actor.value!.user_id) }
      : { kind: 'topic', id: stream_id, topic: subject }
  return (
    <a class="place cut" href={writeHref('conversations', ...writeNarrow(place))}>
      {renderName(place, String(display_recipient))}
    </a>
  )
}

/** The picture for names that the palette offers; others are shown by their code. */
const glyphs: Readonly<Record<string, string>> = {
  thumbs_up: '👍',
  heart: '❤️',
  tada: '🎉',
  eyes: '👀',
  check: '✅',
  rocket: '🚀',
  joy: '😂',
  question: '❓',
}

function renderGlyph({ emoji_name, emoji_code, reaction_type }: Reaction): string {
  if (reaction_type !== 'unicode_emoji') return `:${emoji_name}:`
  try {
    return String.fromCodePoint(...emoji_code.split('-').map(code => Number.parseInt(code, 16)))
  } catch {
    return `:${emoji_name}:`
  }
}

function Reactions({ message: { id, reactions } }: { message: Message }) {
  if (reactions.length === 0) return null
  const groups = Map.groupBy(reactions, ({ reaction_type, emoji_code }) => `${reaction_type} ${emoji_code}`)
  const me = actor.value?.user_id
  return (
    <div class="reactions">
      {[...groups].map(([key, group]) => {
        const first = group[0]!
        const mine = group.some(({ user_id }) => user_id === me)
        const { emoji_name, emoji_code, reaction_type } = first
        const names = group.map(({ user_id }) => users.value.get(user_id)?.full_name ?? `user ${user_id}`).join(', ')
        return (
          <button
            type="button"
            key={key}
            class="reaction"
            aria-pressed={mine}
            title={names}
            onClick={() =>
              attempt(() =>
                call(mine ? 'DELETE' : 'POST', `/messages/${id}/reactions`, { emoji_name, emoji_code, reaction_type }),
              )
            }
          >
            <span aria-hidden="true">{renderGlyph(first)}</span> {group.length}
            <span class="hidden">
              {emoji_name.replaceAll('_', ' ')} by {names}
            </span>
          </button>
        )
      })}
    </div>
  )
}

function Editor({ id, done }: { id: number; done: () => void }) {
  const text = useSignal<string | undefined>(undefined)
  if (text.value === undefined)
    void attempt(async () => {
      const { message } = await call('GET', `/messages/${id}`, { apply_markdown: false })
      text.value = message.content
    })
  const save = async (event: Event) => {
    event.preventDefault()
    if (await attempt(() => call('PATCH', `/messages/${id}`, { content: text.value }))) done()
  }
  return (
    <form class="inline-form" onSubmit={save}>
      <textarea
        class="input"
        aria-label="Content"
        rows={3}
        value={text.value ?? ''}
        disabled={text.value === undefined}
        onInput={event => set(text, event.currentTarget.value)}
      />
      <Button type="submit" look="primary">
        Save
      </Button>
      <Button onClick={done}>Cancel</Button>
    </form>
  )
}

/** Values of propagate_mode. */
const moves = [
  ['change_one', 'this message'],
  ['change_later', 'this and later ones'],
  ['change_all', 'the whole topic'],
] as const

function Mover({ message, done }: { message: Message; done: () => void }) {
  const topic = useSignal(message.subject)
  const channel = useSignal(message.stream_id!)
  const mode = useSignal('change_one')
  const move = async (event: Event) => {
    event.preventDefault()
    const moved = channel.value !== message.stream_id
    const params = {
      propagate_mode: mode.value,
      ...(topic.value !== message.subject && { topic: topic.value }),
      ...(moved && { stream_id: channel.value }),
    }
    if (await attempt(() => call('PATCH', `/messages/${message.id}`, params), 'Moved.')) done()
  }
  return (
    <form class="inline-form" onSubmit={move}>
      <select
        class="input"
        aria-label="Channel"
        value={channel.value}
        onChange={event => set(channel, Number(event.currentTarget.value))}
      >
        {[...channels.value.values()].map(({ stream_id, name }) => (
          <option key={stream_id} value={stream_id}>
            #{name}
          </option>
        ))}
      </select>
      <input class="input" aria-label="Topic" maxLength={60} {...bind(topic)} />
      <Choice label="Which messages" chosen={mode} options={moves} />
      <Button type="submit" look="primary">
        Move
      </Button>
      <Button onClick={done}>Cancel</Button>
    </form>
  )
}
