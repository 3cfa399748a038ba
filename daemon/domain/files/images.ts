// Recognizes images by their first bytes. Only five kinds are known, and reading them takes one pass at most:
// whatever a file holds, its size is the work it can cause.

import { sizeOf, type Upload } from '../../api/define.ts'
import { limits } from '../limits.ts'
import { invalid } from '../refusal.ts'

type ImageType = 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff'

interface Header {
  readonly type: ImageType
  readonly width: number
  readonly height: number
}

/** Where the size of a JPEG is looked for; what comes before it, such as a thumbnail, is smaller than this. */
const jpegHead = 1024 * 1024

/** By the first twelve bytes; undefined for everything else. */
export function imageType(head: Uint8Array): ImageType | undefined {
  const begin = String.fromCharCode(...head.subarray(0, 12))
  // Sound and video begin with RIFF too.
  if (begin.startsWith('RIFF')) return begin.endsWith('WEBP') ? 'webp' : undefined
  return types.find(type => signatures[type].some(signature => begin.startsWith(signature)))
}

const signatures = {
  png: ['\x89PNG\r\n\x1a\n'],
  jpeg: ['\xff\xd8\xff'],
  gif: ['GIF87a', 'GIF89a'],
  tiff: ['II*\0', 'MM\0*'],
}
const types = Object.keys(signatures) as (keyof typeof signatures)[]

/** Width and height in pixels; nothing for what cannot be read as a picture. */
export function imageDimensions(bytes: Uint8Array): { width: number; height: number } | undefined {
  const header = readHeader(bytes)
  return header && { width: header.width, height: header.height }
}

/** Refuses files that are too large or no image. TIFF is no format of emoji: browsers do not show it. */
export function checkImage(name: string, file: Upload, limitMiB: number, accepts: 'all' | 'emoji' = 'all'): void {
  if (sizeOf(file) > limitMiB * 1024 * 1024) throw invalid(name, `the file is larger than ${limitMiB} MiB`)
  const header = readHeader(file.bytes)
  const formats = accepts === 'all' ? 'PNG, JPEG, GIF, WebP or TIFF' : 'PNG, JPEG, GIF or WebP'
  if (!header || (accepts === 'emoji' && header.type === 'tiff'))
    throw invalid(name, `not a ${formats} image`, { code: 'BAD_IMAGE' })
  if (header.width * header.height > limits.imagePixels)
    throw invalid(name, `the image has more than ${limits.imagePixels} pixels`, { code: 'BAD_IMAGE' })
}

function readHeader(bytes: Uint8Array): Header | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const header = png(view) ?? gif(view) ?? webp(view) ?? tiff(view) ?? jpeg(view)
    return header && header.width > 0 && header.height > 0 ? header : undefined
  } catch (error) {
    // The file ends inside its header.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function png(view: DataView): Header | undefined {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || !has(view, 12, 'IHDR')) return undefined
  return { type: 'png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gif(view: DataView): Header | undefined {
  if (!has(view, 0, 'GIF87a') && !has(view, 0, 'GIF89a')) return undefined
  return { type: 'gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

function webp(view: DataView): Header | undefined {
  if (!has(view, 0, 'RIFF') || !has(view, 8, 'WEBP')) return undefined
  const type = 'webp'
  if (has(view, 12, 'VP8X')) return { type, width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) }
  if (has(view, 12, 'VP8 '))
    return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (!has(view, 12, 'VP8L')) return undefined
  const bits = view.getUint32(21, true)
  return { type, width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
}

/** The first directory has the size, in two of its entries. */
function tiff(view: DataView): Header | undefined {
  const little = has(view, 0, 'II*\0')
  if (!little && !has(view, 0, 'MM\0*')) return undefined
  const directory = view.getUint32(4, little)
  let [width, height] = [0, 0]
  for (let i = 0; i < view.getUint16(directory, little); i++) {
    const at = directory + 2 + i * 12
    const tag = view.getUint16(at, little)
    const value = view.getUint16(at + 2, little) === 3 ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little)
    if (tag === 256) width = value
    if (tag === 257) height = value
  }
  return { type: 'tiff', width, height }
}

/** Segments say how long they are; the first of those that begin a frame has the size. */
function jpeg(view: DataView): Header | undefined {
  if (view.getUint16(0) !== 0xffd8 || view.getUint8(2) !== 0xff) return undefined
  for (let at = 2; at < jpegHead; ) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    if (beginsFrame(marker)) return { type: 'jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    // A marker may be preceded by any number of these.
    at += marker === 0xff ? 1 : 2 + Math.max(2, view.getUint16(at + 2))
  }
  return undefined
}

/** 0xc0 to 0xcf, but for those that hold tables. */
function beginsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

function has(view: DataView, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (view.getUint8(at + i) !== text.charCodeAt(i)) return false
  return true
}
