// Texts that may or may not be JSON, and the objects in them.

/** The value of a JSON text; `otherwise` if the text is not JSON. */
export function jsonOr(text: string, otherwise?: unknown): any {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const notJson = Symbol()

export function isJson(text: string): boolean {
  return jsonOr(text, notJson) !== notJson
}
