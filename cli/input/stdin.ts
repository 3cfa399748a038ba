// Reads standard input to its end.

import { decodeText } from '../base/files.ts'

export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return decodeText(Buffer.concat(chunks), 'stdin')
}
