// Parts that need nothing of the daemon: buttons, fields and their signals, and JSON.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, ComponentProps } from 'preact'

/** For handlers that only change a signal. */
export function set<T>(signal: Signal<T>, value: T): void {
  signal.value = value
}

/** Attributes of a control whose text is in a signal. */
export function bind(text: Signal<string>) {
  return {
    value: text.value,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => set(text, currentTarget.value),
  }
}

/** `look` names classes beside `button`. */
export type ButtonProps = Omit<ComponentProps<'button'>, 'class'> & { readonly look?: string }

export function Button({ look, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} class={look ? `button ${look}` : 'button'} {...rest} />
}

export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  )
}

/** Characters shown at first: a page of a megabyte is slow to lay out. */
const shownOfJson = 50_000

export function Json({ value, label = 'JSON' }: { value: unknown; label?: string }) {
  const text = typeof value === 'string' ? indent(value) : (JSON.stringify(value, null, 2) ?? 'null')
  const whole = useSignal(false)
  const cut = !whole.value && text.length > shownOfJson
  return (
    <div class="json">
      <pre tabIndex={0} role="region" aria-label={label}>
        {cut ? text.slice(0, shownOfJson) : text}
      </pre>
      {cut && <Button onClick={() => set(whole, true)}>Show all {text.length.toLocaleString()} characters</Button>}
    </div>
  )
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
