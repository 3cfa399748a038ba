// Parts that need nothing of the daemon: a labelled control, and JSON.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

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
      {cut && (
        <button
          type="button"
          class="button"
          onClick={() => {
            whole.value = true
          }}
        >
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
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
