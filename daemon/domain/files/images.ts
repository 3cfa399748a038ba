// What counts as an image.

import { imageSize } from 'image-size'
import { invalid } from '../refusal.ts'

const types: Readonly<Record<string, string>> = { png: 'png', jpg: 'jpeg', gif: 'gif', webp: 'webp' }

/** `png`, `jpeg`, `gif` or `webp`; undefined for everything else and for what cannot be read. */
export function imageType(bytes: Uint8Array): string | undefined {
  try {
    const { type, width, height } = imageSize(bytes)
    return type !== undefined && width > 0 && height > 0 ? types[type] : undefined
  } catch {
    return undefined
  }
}

/** Width and height in pixels; nothing for what cannot be read as a picture. */
export function imageDimensions(bytes: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height } = imageSize(bytes)
    return { width, height }
  } catch {
    return undefined
  }
}

/** Refuses files that are too large or no image. */
export function checkImage(name: string, bytes: Uint8Array, limitMiB: number): void {
  if (bytes.length > limitMiB * 1024 * 1024) throw invalid(name, `must be at most ${limitMiB} MiB`)
  if (!imageType(bytes)) throw invalid(name, 'must be a PNG, JPEG, GIF or WebP image', { code: 'BAD_IMAGE' })
}
