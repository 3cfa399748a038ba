// Keys that work everywhere: `/` for search, j and k to move, g and a letter to go to a view, `?` for this list.

import { signal } from '@preact/signals'
import { set } from './parts/basics.tsx'
import { Dialog } from './parts/dialog.tsx'
import { go, type ViewName, views } from './route.ts'
import { isControlled } from './session.ts'

const shown = signal(false)
const pending = { g: 0 }

/** Milliseconds between g and the letter after it. */
const chordTimeout = 1500

export function listenToKeys(): void {
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    const field = event.target as HTMLElement
    if (field.closest('input, textarea, select, dialog')) {
      if (event.key === 'Escape' && !field.closest('dialog')) field.blur()
      return
    }
    if (act(event.key)) event.preventDefault()
  })
}

export function showKeys(): void {
  shown.value = true
}

function act(key: string): boolean {
  const now = Date.now()
  if (now - pending.g < chordTimeout) {
    pending.g = 0
    const view = (Object.keys(views) as ViewName[]).find(name => views[name].key === key)
    if (view && (isControlled.value || !views[view].control)) go(view)
    return view !== undefined
  }
  switch (key) {
    case 'g':
      pending.g = now
      return true
    case '/':
      document.querySelector<HTMLInputElement>('[data-slash]')?.focus()
      return true
    case 'j':
    case 'k':
      dispatchEvent(new CustomEvent('natter:move', { detail: key === 'j' ? 1 : -1 }))
      return true
    case '?':
      showKeys()
      return true
    default:
      return false
  }
}

export function KeysDialog() {
  if (!shown.value) return null
  const rows: [string, string][] = [
    ['/', 'search or filter'],
    ['j, k', 'next and previous row'],
    ...Object.values(views).map(({ key, title }): [string, string] => [`g ${key}`, title]),
    ['Enter', 'send the message that you write'],
    ['Escape', 'leave a field, close a dialog'],
    ['?', 'this list'],
  ]
  return (
    <Dialog title="Keys" onClose={() => set(shown, false)}>
      <dl class="keys">
        {rows.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
