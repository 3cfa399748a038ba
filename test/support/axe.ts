// Finds what a screen reader could not use on a page.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with the page as it is, in a few words each. It does not look at elements that `except` selects. */
export async function violations(page: Page, except: readonly string[] = []): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe)
  const context = JSON.stringify({ include: [['html']], exclude: except.map(selector => [selector]) })
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(${context}, { resultTypes: ["violations"] }).then(result => result.violations)`,
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}

const looks = [
  { colorScheme: 'light', width: 1280, height: 800 },
  { colorScheme: 'dark', width: 360, height: 720 },
] as const

/** Loading the page again for the second look would take most of the time. */
export async function inEachLook(page: Page, check: (look: string) => Promise<void>): Promise<void> {
  for (const { colorScheme, ...size } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    await check(`${colorScheme}, ${size.width} pixels`)
  }
}
