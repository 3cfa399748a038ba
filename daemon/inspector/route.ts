// The view that is shown: the fragment of the address, so that back, forward and bookmarks work.

import { computed, signal } from '@preact/signals'

export const views = {
  conversations: { title: 'Conversations', short: 'Chat', key: 'c', control: false },
  events: { title: 'Events', short: 'Events', key: 'e', control: false },
  calls: { title: 'Calls', short: 'Calls', key: 'r', control: true },
  time: { title: 'Time and faults', short: 'Time', key: 't', control: true },
  world: { title: 'World', short: 'World', key: 'w', control: false },
  health: { title: 'Health', short: 'Health', key: 'h', control: true },
} as const

export type ViewName = keyof typeof views

const fragment = signal(location.hash)

export const route = computed<{ readonly view: ViewName; readonly rest: readonly string[] }>(() => {
  const linked = conversationIn(fragment.value)
  if (linked) return { view: 'conversations', rest: linked }
  const [view = '', ...rest] = fragment.value.replace(/^#\/?/, '').split('/').map(decode)
  return { view: Object.hasOwn(views, view) ? (view as ViewName) : 'conversations', rest }
})

/** The conversation that a link names, as the API and public servers write links; undefined for any other address. */
export function conversationIn(href: string): string[] | undefined {
  const [, users] = /#narrow\/(?:dm|pm-with)\/(\d+(?:,\d+)*)-/.exec(href) ?? []
  if (users !== undefined) return ['direct', users]
  const [, id, topic] = /#narrow\/(?:channel|stream)\/(\d+)[^/]*(?:\/(?:topic|subject)\/([^/]+))?/.exec(href) ?? []
  if (id === undefined) return undefined
  // In such addresses a dot replaces the percent sign.
  return ['channel', id, ...(topic === undefined ? [] : [decode(topic.replaceAll('.', '%'))])]
}

export function writeHref(view: ViewName, ...rest: readonly (string | number)[]): string {
  return `#/${[view, ...rest.map(part => encodeURIComponent(part))].join('/')}`
}

export function go(view: ViewName, ...rest: readonly (string | number)[]): void {
  location.hash = writeHref(view, ...rest)
}

export function followAddress(): void {
  addEventListener('hashchange', () => {
    fragment.value = location.hash
  })
  fragment.value = location.hash
}

/** A percent sign that encodes nothing is one. */
export function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
