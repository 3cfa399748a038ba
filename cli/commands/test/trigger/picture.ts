// A picture to upload: one pixel.

import type { Upload } from '../../../../daemon/api/define.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const picture: Upload = { filename: 'pixel.png', contentType: 'image/png', bytes: Buffer.from(png, 'base64') }
