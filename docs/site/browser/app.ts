// The script of every page: the theme, the search, and buttons that copy examples.

import { chooseNextTheme, readTheme, showTheme } from '../../../daemon/inspector/theme.ts'
import { addSearch } from './search.ts'

// Before anything is drawn, so that the page does not flash.
let theme = readThemeOrAuto()
showTheme(theme)

addEventListener('DOMContentLoaded', () => {
  addThemeButton(document.querySelector<HTMLButtonElement>('.theme')!)
  addSearch(document.querySelector<HTMLElement>('.search')!)
  for (const block of document.querySelectorAll<HTMLElement>('.code')) addCopyButton(block)
  // The list of pages is open where there is room for it.
  const list = document.querySelector<HTMLDetailsElement>('.pages')!
  const wide = matchMedia('(min-width: 860px)')
  const openIfWide = () => {
    list.open = wide.matches
  }
  openIfWide()
  wide.addEventListener('change', openIfWide)
  showCurrent()
})

/** Browsers can forbid a page to keep something. */
function readThemeOrAuto(): string {
  try {
    return readTheme()
  } catch {
    return 'auto'
  }
}

function addThemeButton(button: HTMLButtonElement): void {
  const label = () => {
    button.title = `Theme: ${theme}`
    button.setAttribute('aria-label', button.title)
  }
  label()
  button.addEventListener('click', () => {
    theme = chooseNextTheme(theme)
    showTheme(theme)
    label()
  })
}

function addCopyButton(block: HTMLElement): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(copiedFrom(block.querySelector('pre')!))
      button.textContent = 'Copied'
    } catch {
      // Only pages from a secure address may.
      getSelection()?.selectAllChildren(block.querySelector('pre')!)
      button.textContent = 'Selected'
    }
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  block.append(button)
}

/** Of a transcript the commands: `$ ` begins one, `> ` continues it, and other lines are what it prints. */
function copiedFrom({ innerText: text }: HTMLElement): string {
  if (!text.startsWith('$ ')) return text
  return text
    .split('\n')
    .flatMap(line => /^[$>] (.*)$/.exec(line)?.[1] ?? [])
    .join('\n')
}

/** In a long list the current page would be out of sight. */
function showCurrent(): void {
  const list = document.querySelector<HTMLElement>('.pages nav')
  const current = list?.querySelector<HTMLElement>('[aria-current]')
  if (list && current) list.scrollTop = current.offsetTop - list.clientHeight / 3
}
