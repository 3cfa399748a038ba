// Text from clients and servers, made safe for a terminal.

/** Text from elsewhere must not steer the terminal. Line breaks and tabs stay. */
export function harmless(text: string): string {
  // Nearly all texts are, and looking is cheaper than replacing nothing.
  if (!steering.test(text)) return text
  return text.replace(new RegExp(steering, 'g'), character => {
    return `\\x${character.codePointAt(0)!.toString(16).padStart(2, '0')}`
  })
}

/** The same for the name of a file, which goes to terminals by other programs. */
export function harmlessName(name: string): string {
  return name.replace(new RegExp(`[\\t\\n]|${steering.source}`, 'g'), '-')
}

/** The same, but colors and weights stay. Nothing that hides text is among them. */
export function harmlessButColors(text: string): string {
  if (!steering.test(text)) return text
  return text
    .split(color)
    .map((part, index) => (index % 2 === 0 ? harmless(part) : part))
    .join('')
}

/** The same for JSON text: what JSON lets through becomes an escape, so it stays the same JSON. */
export function harmlessJson(json: string): string {
  if (!steeringInJson.test(json)) return json
  return json.replace(new RegExp(steeringInJson, 'g'), character => {
    return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`
  })
}

// C0 and C1 controls, marks that change the direction of text, and tags: letters that people do not see and language models read. After a
// black flag, up to seven tags name the region whose flag it is.
const steering =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being replaced
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?<!\ud83c\udff4(?:\udb40[\udc20-\udc7f]){0,6})\udb40[\udc00-\udc7f]/
const steeringInJson = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one
const color = /(\u001b\[(?:[1-4]|2[2-4]|3[0-7]|39|9[0-7])m)/
