// The search: "/" goes there, the arrows choose, Enter opens. The index is loaded when the field is first used.

import MiniSearch from 'minisearch'
import { type Found, searchOptions } from './search-options.ts'

const shown = 12
const kinds: Readonly<Record<string, string>> = {
  guide: 'Guide',
  reference: 'Reference',
  endpoint: 'API',
  control: 'Control',
  subcommand: 'Command',
  error: 'Error',
  event: 'Event',
  decision: 'Decision',
}

const { root = './' } = document.documentElement.dataset
let loading: Promise<MiniSearch> | undefined

async function load(): Promise<MiniSearch> {
  const response = await fetch(`${root}search.json`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`status ${response.status}`)
  return MiniSearch.loadJSON(await response.text(), searchOptions)
}

export function addSearch(box: HTMLElement): void {
  const input = box.querySelector('input')!
  const list = document.createElement('div')
  const status = document.createElement('p')
  list.id = 'found'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Results')
  status.className = 'status'
  status.setAttribute('role', 'status')
  box.append(list, status)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
    'aria-expanded': 'false',
  }))
    input.setAttribute(name, value)

  let chosen = -1
  const options = () => [...list.children] as HTMLElement[]

  function choose(index: number): void {
    const all = options()
    chosen = all.length === 0 ? -1 : (index + all.length) % all.length
    for (const [at, option] of all.entries()) option.setAttribute('aria-selected', String(at === chosen))
    const option = all[chosen]
    if (option) {
      input.setAttribute('aria-activedescendant', option.id)
      option.scrollIntoView({ block: 'nearest' })
    } else input.removeAttribute('aria-activedescendant')
  }

  function close(): void {
    list.hidden = true
    status.textContent = ''
    input.setAttribute('aria-expanded', 'false')
    choose(-1)
  }

  async function search(): Promise<void> {
    const text = input.value.trim()
    if (text === '') {
      list.replaceChildren()
      return close()
    }
    try {
      loading ??= load()
      const index = await loading
      // Someone who types on has asked for something else by now.
      if (text !== input.value.trim()) return
      const all = index.search(text)
      // Better some of the words than nothing.
      const best = all.length > 0 ? all : index.search(text, { combineWith: 'OR' })
      const found = best.slice(0, shown) as unknown as Found[]
      list.replaceChildren(...found.map(buildOption))
      list.hidden = found.length === 0
      status.textContent = found.length === 0 ? `Nothing found for “${text}”.` : ''
      input.setAttribute('aria-expanded', String(found.length > 0))
      choose(found.length > 0 ? 0 : -1)
    } catch {
      loading = undefined
      status.textContent = 'The search could not be loaded.'
    }
  }

  input.addEventListener('focus', () => {
    // Asked for again when the search itself needs it.
    loading ??= load()
    loading.catch(() => {
      loading = undefined
    })
  })
  input.addEventListener('input', () => void search())
  input.addEventListener('keydown', event => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1))
    } else if (event.key === 'Enter') options()[chosen]?.click()
    else if (event.key === 'Escape') {
      close()
      input.blur()
    }
  })
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    event.preventDefault()
    input.focus()
    input.select()
  })
  document.addEventListener('click', event => {
    if (!box.contains(event.target as Node)) close()
  })
}

function buildOption({ title, path, kind, about }: Found, index: number): HTMLElement {
  const option = document.createElement('a')
  option.id = `found-${index}`
  option.href = `${root}${path}`
  option.tabIndex = -1
  option.setAttribute('role', 'option')
  for (const [name, text] of [
    ['kind', kinds[kind] ?? kind],
    ['title', title],
    ['about', about],
  ] as const) {
    const part = document.createElement('span')
    part.className = name
    part.textContent = text
    option.append(part, ' ')
  }
  return option
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
