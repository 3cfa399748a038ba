// Conversations as one account sees them.

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Composer } from '../chat/composer.tsx'
import { MessageRow } from '../chat/message.tsx'
import type { Narrow } from '../chat/narrow.ts'
import type { Message } from '../chat/records.ts'
import { Sidebar, subscribe } from '../chat/sidebar.tsx'
import {
  channelKey,
  channels,
  directKey,
  hasOlder,
  isLoading,
  loadOlder,
  messages,
  narrow,
  renderName,
  typing,
  unreadCounts,
  users,
} from '../chat/store.ts'
import { Button, bind, set } from '../parts/basics.tsx'
import { attempt, Icon } from '../parts/controls.tsx'
import { formatDay } from '../parts/format.ts'
import { go, route, writeHref } from '../route.ts'
import { call } from '../session.ts'

export function Conversations() {
  const opened = route.value.view === 'conversations' && route.value.rest.length > 0
  return (
    <div class="chat" data-opened={opened}>
      <Sidebar />
      <section class="pane" aria-label="Messages">
        <Header />
        <Messages />
        <Typing />
        <Composer />
      </section>
    </div>
  )
}

function Header() {
  const now = narrow.value
  const channel = now.kind === 'channel' || now.kind === 'topic' ? channels.value.get(now.id) : undefined
  const unread = unreadIn(now)
  return (
    <header class="pane-header toolbar">
      <a class="button ghost only-narrow" href={writeHref('conversations')}>
        <Icon name="back" />
        <span class="hidden">Back to the list</span>
      </a>
      <div class="pane-title">
        <h1>{renderTitle(now)}</h1>
        {channel?.description && now.kind === 'channel' && <p class="faint">{channel.description}</p>}
      </div>
      <Search now={now} />
      {unread > 0 && <Button onClick={() => markRead(now)}>Mark {unread} as read</Button>}
      {channel && (
        <Button onClick={() => subscribe(channel.name, !channel.subscribed)}>
          {channel.subscribed ? 'Unsubscribe' : 'Subscribe'}
        </Button>
      )}
    </header>
  )
}

function Search({ now }: { now: Narrow }) {
  const text = useSignal(now.kind === 'search' ? now.text : '')
  useEffect(() => set(text, now.kind === 'search' ? now.text : ''), [now])
  const search = (event: Event) => {
    event.preventDefault()
    if (text.value.trim()) go('conversations', 'search', text.value.trim())
    else go('conversations')
  }
  return (
    <form class="search" role="search" onSubmit={search}>
      <Icon name="search" />
      <input
        class="input"
        type="search"
        data-slash
        placeholder="Search: channel:general sender:amy@example.com lunch"
        aria-label="Search messages"
        {...bind(text)}
      />
    </form>
  )
}

function renderTitle(now: Narrow): string {
  switch (now.kind) {
    case 'channel':
    case 'topic':
    case 'direct':
      return renderName(now)
    case 'search':
      return `Search: ${now.text}`
    case 'mentions':
      return 'Mentions'
    case 'starred':
      return 'Starred'
    default:
      return 'All messages'
  }
}

function unreadIn(now: Narrow): number {
  const counts = unreadCounts.value
  if (now.kind === 'channel') return counts.get(channelKey(now.id)) ?? 0
  if (now.kind === 'topic') return counts.get(channelKey(now.id, now.topic)) ?? 0
  if (now.kind === 'direct') return counts.get(directKey(now.ids)) ?? 0
  return 0
}

async function markRead(now: Narrow): Promise<void> {
  if (now.kind === 'channel') await attempt(() => call('POST', '/mark_stream_as_read', { stream_id: now.id }))
  else if (now.kind === 'topic')
    await attempt(() => call('POST', '/mark_topic_as_read', { stream_id: now.id, topic_name: now.topic }))
  else {
    const ids = messages.value.filter(({ flags }) => !flags.includes('read')).map(({ id }) => id)
    await attempt(() => call('POST', '/messages/flags', { messages: ids, op: 'add', flag: 'read' }))
  }
}

function Messages() {
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const selected = useSignal<number | undefined>(undefined)
  const list = messages.value
  const showsPlace = narrow.value.kind !== 'topic' && narrow.value.kind !== 'direct'
  useLayoutEffect(() => {
    atEnd.current = true
    selected.value = undefined
  }, [narrow.value])
  useLayoutEffect(() => {
    if (atEnd.current) box.current!.scrollTop = box.current!.scrollHeight
  }, [list])
  useEffect(() => {
    const element = box.current!
    // Pictures and rendered text make it taller after the list was drawn.
    const observer = new ResizeObserver(() => {
      if (atEnd.current) element.scrollTop = element.scrollHeight
    })
    observer.observe(element.firstElementChild!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    const move = (event: Event) => {
      const step = (event as CustomEvent<number>).detail
      const at = list.findIndex(({ id }) => id === selected.value)
      const next = list[at < 0 ? list.length - 1 : Math.min(list.length - 1, Math.max(0, at + step))]
      if (!next) return
      selected.value = next.id
      const row = box.current!.querySelector<HTMLElement>(`[data-id="${next.id}"]`)
      row?.focus({ preventScroll: true })
      row?.scrollIntoView({ block: 'nearest' })
    }
    addEventListener('natter:move', move)
    return () => removeEventListener('natter:move', move)
  }, [list])
  return (
    <div
      class="messages"
      ref={box}
      tabIndex={0}
      role="log"
      aria-label="Messages"
      // A browser reports scrolling in its next frame, when the list may be gone from the page.
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollTop + clientHeight >= scrollHeight - 40
      }}
    >
      <div>
        {hasOlder.value && list.length > 0 && (
          <Button look="older" onClick={() => attempt(loadOlder)}>
            Show older messages
          </Button>
        )}
        {isLoading.value && <p class="empty">Loading…</p>}
        {!isLoading.value && list.length === 0 && <p class="empty">No messages here yet.</p>}
        {list.map((message, index) => (
          <Dated key={message.id} message={message} before={list[index - 1]}>
            <MessageRow message={message} showsPlace={showsPlace} selected={selected.value === message.id} />
          </Dated>
        ))}
      </div>
    </div>
  )
}

interface DatedProps {
  readonly message: Message
  readonly before: Message | undefined
  readonly children: preact.ComponentChildren
}

/** A line where a new day begins. */
function Dated({ message, before, children }: DatedProps) {
  const day = formatDay(message.timestamp * 1000)
  return (
    <>
      {(!before || formatDay(before.timestamp * 1000) !== day) && <p class="day">{day}</p>}
      {children}
    </>
  )
}

function Typing() {
  const names = [...typing.value.keys()].map(id => users.value.get(id)?.full_name ?? `user ${id}`)
  return (
    <p class="typing faint" aria-live="polite">
      {names.length > 0 && `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} typing…`}
    </p>
  )
}
