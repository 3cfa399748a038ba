// Formulas, typeset by KaTeX as on the public server. It is loaded with the first formula.

import katex from 'katex'

/** undefined for what is no formula. */
export function renderFormula(source: string, display: boolean): string | undefined {
  try {
    return katex.renderToString(source, { displayMode: display, strict: 'ignore' })
  } catch {
    // It cannot be read, or nests too deeply.
    return undefined
  }
}
