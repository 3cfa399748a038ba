// Formulas, typeset by KaTeX as on the public server, with bounds for the work. KaTeX is loaded with the first formula.

import katex from 'katex'
import type { Findings } from './render-context.ts'

// OPEN: the public server does not limit formulas. Here one that is longer than 1,000 characters or defines commands is shown as one that
// cannot be read, and so are those after the first 500 cells of a message, where a formula without cells counts as one: a definition of
// 5,000 characters, used 900 times, takes minutes, and a cell takes as long as 20 letters.
const longest = 1000
const mostCells = 500
/** One letter of a formula becomes more HTML than that, so that what is longer would hardly ever be shown. */
const htmlPerCharacter = 50
const definition = /\\(?:[egx]?def|(?:re)?newcommand|providecommand)(?![A-Za-z@])/

/** Undefined for what is no formula. */
export function renderFormula(source: string, display: boolean, findings: Findings): string | undefined {
  if (source.length > longest || definition.test(source)) return undefined
  findings.formulaCells += source.split('&').length
  findings.formulaCharacters += source.length
  if (findings.formulaCells > mostCells || findings.formulaCharacters > findings.largest / htmlPerCharacter)
    return undefined
  // The text has become too large already, and is not shown as it is.
  if (findings.formulaHtml > findings.largest) return undefined
  try {
    const html = silently(() => katex.renderToString(source, { displayMode: display, strict: 'ignore' }))
    findings.formulaHtml += html.length
    return html
  } catch {
    // It cannot be read, or nests too deeply.
    return undefined
  }
}

/**
 * KaTeX writes a line for each character that it cannot measure, and what `\message` and `\show` say. A message must not fill the log
 * of the daemon, or appear in it, and no option keeps KaTeX from that.
 */
function silently<T>(work: () => T): T {
  const { log, warn, error } = console
  const ignore = () => {}
  Object.assign(console, { log: ignore, warn: ignore, error: ignore })
  try {
    return work()
  } finally {
    Object.assign(console, { log, warn, error })
  }
}
