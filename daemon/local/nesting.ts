// The bound on the nesting of data from outside: JSON and YAML of callers and of files.

/** Data nested deeper than this is an attack or an accident: what works on it recurses, and would exhaust the stack. */
export const deepest = 100

/** Whether JSON is nested deeper than that. What is not JSON may be, or not. */
export function tooDeep(raw: string): boolean {
  let depth = 0
  let inText = false
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (inText) {
      if (code === 0x5c) i++
      else if (code === 0x22) inText = false
    } else if (code === 0x22) inText = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > deepest) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/** Throws a SyntaxError for text that is not JSON, or nested too deeply. */
export function parseJson(text: string): any {
  if (tooDeep(text)) throw new SyntaxError(`nested more than ${deepest} levels deep`)
  return JSON.parse(text)
}
