// The first frame of an animated picture, taken out of its container: nothing is decoded, so it costs next to nothing.

/** The first frame as a picture of its own; undefined for a picture that has one frame, or cannot be read. */
export function extractStill(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (textAt(bytes, 0, 4) === 'GIF8') return stillGif(bytes)
    if (textAt(bytes, 0, 4) === 'RIFF' && textAt(bytes, 8, 4) === 'WEBP') return stillWebp(bytes, view)
    if (textAt(bytes, 1, 3) === 'PNG') return stillPng(bytes, view)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return undefined
}

// --- GIF --------------------------------------------------------------------------------------------------------

const extension = 0x21
const frame = 0x2c
const trailer = 0x3b

function stillGif(bytes: Uint8Array): Uint8Array | undefined {
  let at = 13 + colorTable(byteAt(bytes, 10))
  let first: number | undefined
  for (;;) {
    const kind = byteAt(bytes, at)
    if (kind === extension) at = afterBlocks(bytes, at + 2)
    else if (kind === frame) {
      if (first !== undefined) return join([bytes.subarray(0, first), new Uint8Array([trailer])])
      at = afterBlocks(bytes, at + 11 + colorTable(byteAt(bytes, at + 9)))
      first = at
    } else return undefined
  }
}

function colorTable(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** Blocks say how long they are; an empty one is the last. */
function afterBlocks(bytes: Uint8Array, start: number): number {
  let at = start
  for (let length = byteAt(bytes, at); length > 0; length = byteAt(bytes, at)) at += length + 1
  return at + 1
}

// --- WebP -------------------------------------------------------------------------------------------------------

function stillWebp(bytes: Uint8Array, view: DataView): Uint8Array | undefined {
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = view.getUint32(at + 4, true)
    // A frame: place, size, duration, then the chunks of a picture.
    if (textAt(bytes, at, 4) === 'ANMF') {
      const size = bytes.subarray(at + 8 + 6, at + 8 + 12)
      const picture = bytes.subarray(at + 8 + 16, at + 8 + length)
      const alpha = 0x10
      const canvas = join([ascii('VP8X'), little(10), new Uint8Array([alpha, 0, 0, 0]), size])
      return join([ascii('RIFF'), little(4 + canvas.length + picture.length), ascii('WEBP'), canvas, picture])
    }
    at += 8 + length + (length % 2)
  }
  return undefined
}

// --- PNG --------------------------------------------------------------------------------------------------------

function stillPng(bytes: Uint8Array, view: DataView): Uint8Array | undefined {
  const kept = [bytes.subarray(0, 8)]
  let animated = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = 12 + view.getUint32(at)
    const type = textAt(bytes, at + 4, 4)
    if (type === 'acTL') animated = true
    // What is left without these is a picture for readers that know of no animation.
    if (!['acTL', 'fcTL', 'fdAT'].includes(type)) kept.push(bytes.subarray(at, at + length))
    at += length
  }
  return animated ? join(kept) : undefined
}

// --- bytes ------------------------------------------------------------------------------------------------------

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new RangeError('the picture ends too early')
  return byte
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length))
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function little(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
