// Small parts that many views use: icons, copying, notices, loading of a resource.

import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { pulse } from '../live.ts'
import { messageOf } from '../session.ts'
import { Button, type ButtonProps, bind, set } from './basics.tsx'

/** Lines on a grid of 24, drawn with the colour of the text. */
const shapes = {
  conversations: 'M4 5h16v11H10l-4 4v-4H4z',
  events: 'M13 3 5 14h6l-1 7 8-11h-6z',
  calls: 'M4 8h13m-4-4 4 4-4 4M20 16H7m4 4-4-4 4-4',
  time: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 4v4l3 2',
  world: 'M4 7h16M4 12h16M4 17h16M8 5v4m8 1v4m-6 1v4',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  back: 'm14 6-6 6 6 6',
  close: 'm6 6 12 12M18 6 6 18',
  star: 'm12 4 2.5 5.2 5.7.8-4.1 4 1 5.7L12 17l-5.1 2.7 1-5.7-4.1-4 5.7-.8z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zm4.5 10.5L20 20',
  theme: 'M12 4a8 8 0 1 0 0 16zm0 0a8 8 0 0 1 0 16',
  docs: 'M12 7c-2-1.500-4.500-2-8-2v13c3.500 0 6 .5 8 2 2-1.500 4.500-2 8-2V5c-3.500 0-6 .5-8 2zm0 0v13',
  keys: 'M4 7h16v10H4zm3 3h.01M11 10h.01M15 10h.01M8 14h8',
  leave: 'M14 5H5v14h9m-3-7h9m-3-3 3 3-3 3',
  send: 'M4 12 20 5l-5 15-3.5-6z',
  attach: 'M19 11l-7.5 7.5a4 4 0 0 1-6-6L13 5a3 3 0 0 1 4.500 4L10 16.500a1.500 1.500 0 0 1-2-2L14.500 8',
} as const

type IconName = keyof typeof shapes

export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" data-filled={filled}>
      <path d={shapes[name]} />
    </svg>
  )
}

interface IconButtonProps extends ButtonProps {
  readonly icon: IconName
  /** For screen readers. */
  readonly label: string
}

export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <Button look="ghost" {...rest}>
      <Icon name={icon} />
      <span class="hidden">{label}</span>
    </Button>
  )
}

/** The message at the bottom of the page, which screen readers read too. */
export const notice = signal<{ readonly text: string; readonly bad: boolean } | undefined>(undefined)

const noticeMs = 6000
const timers = { notice: 0 }

export function say(text: string, bad = false): void {
  notice.value = { text, bad }
  clearTimeout(timers.notice)
  timers.notice = window.setTimeout(() => set(notice, undefined), noticeMs)
}

/** Runs the action of a button and shows its error. Resolves with whether it succeeded. */
export async function attempt(run: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await run()
    if (done) say(done)
    return true
  } catch (error) {
    say(messageOf(error), true)
    return false
  }
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say('Copied.')
  } catch {
    // Only a page on https or on this machine may use the clipboard.
    say('The browser does not let this page copy. Select the text instead.', true)
  }
}

export function CopyButton({ text, children }: { text: () => string; children: ComponentChildren }) {
  return (
    <Button onClick={() => copy(text())} title={text().slice(0, 500)}>
      <Icon name="copy" />
      {children}
    </Button>
  )
}

/** Milliseconds between two readings. */
const freshMs = 1000

/** Something of the control plane, read again while the page is live, at most once a second. */
export function useFresh<T>(read: () => Promise<T>, dependencies: readonly unknown[] = []) {
  const value = useSignal<T | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const version = useSignal(0)
  const last = useSignal(0)
  const load = async () => {
    last.value = Date.now()
    const asked = ++version.value
    try {
      const found = await read()
      if (asked === version.value) value.value = found
      problem.value = undefined
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  useEffect(() => {
    void load()
  }, dependencies)
  useEffect(() => {
    let timer = 0
    const first = pulse.peek()
    const stop = pulse.subscribe(count => {
      if (count === first) return
      // Read again, because the last reading may have missed this change; but not more than once a second.
      clearTimeout(timer)
      timer = window.setTimeout(load, Math.max(0, last.peek() + freshMs - Date.now()))
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, dependencies)
  return { value: value.value, problem: problem.value, reload: load }
}

export function Section({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}) {
  const id = `section-${title.toLowerCase().replace(/\W+/g, '-')}`
  return (
    <section class="section" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <div class="aside">{aside}</div>
      </header>
      {children}
    </section>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly chosen: Signal<string>
  /** Values and what is shown for them. */
  readonly options: readonly (readonly [string, string])[]
}

export function Choice({ label, chosen, options }: ChoiceProps) {
  return (
    <select class="input" aria-label={label} {...bind(chosen)}>
      {options.map(([value, shown]) => (
        <option key={value} value={value}>
          {shown}
        </option>
      ))}
    </select>
  )
}
