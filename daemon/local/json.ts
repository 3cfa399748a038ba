// Texts that may or may not be JSON.

/** The value of a JSON text; `otherwise` if the text is not JSON. */
export function jsonOr(text: string, otherwise?: unknown): any {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise
  }
}

const notJson = Symbol()

export function isJson(text: string): boolean {
  return jsonOr(text, notJson) !== notJson
}
