// `natter messages export --format md`: messages.ndjson of an export as a document, with a heading where the conversation changes.

import { constants, createReadStream, createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { nameFile } from '../../../daemon/local/atomic-file.ts'
import { nameConversation } from '../../../daemon/local/conversation-name.ts'
import { harmless } from '../../../daemon/local/harmless.ts'
import { openPlainSync } from '../../../daemon/local/plain-files.ts'

interface Message {
  readonly display_recipient: string | readonly { readonly full_name: string }[]
  readonly subject: string
  readonly sender_full_name: string
  readonly timestamp: number
  readonly content: string
}

export async function writeMarkdown(folder: string): Promise<void> {
  const target = join(folder, 'messages.md')
  const part = openPlainSync(`${target}.part`, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600)
  const lines = readLines(join(folder, 'messages.ndjson'))
  await pipeline(sections(lines), createWriteStream('', { fd: part })).catch(error => {
    throw nameFile(error, target)
  })
  await rename(`${target}.part`, target)
}

/** Not by node:readline, which ends a line at other characters too, such as U+2028. */
async function* readLines(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream('', { fd: openPlainSync(file), encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

async function* sections(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let before: string | undefined
  for await (const line of lines) {
    const message: Message = JSON.parse(line)
    const heading = harmless(renderHeading(message))
    if (heading !== before) yield `${before === undefined ? '' : '\n'}## ${heading}\n`
    before = heading
    const time = new Date(message.timestamp * 1000).toISOString().slice(0, 16).replace('T', ' ')
    // Links to files lead to the copies beside the document.
    const content = message.content.replaceAll(/(?<=\()(?:https?:\/\/[^\s/()]+)?\/user_uploads\//g, 'files/')
    // The document is read with `cat` and `less`, too.
    yield harmless(`\n**${message.sender_full_name}** ${time} UTC\n\n${content}\n`)
  }
}

function renderHeading({ display_recipient: to, subject }: Message): string {
  return nameConversation(typeof to === 'string' ? { channel: to, topic: subject } : { people: to })
}
