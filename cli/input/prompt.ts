// Prompts at a terminal; scripts use NATTER_PASSWORD or stdin. Prompts go to stderr.

import { harmless } from '../../daemon/local/harmless.ts'
import { Ending, exitCodes, usage } from '../base/failure.ts'
import { printError, promptStream } from '../base/writer.ts'

/** Undefined if there is no terminal. */
export async function askText(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: promptStream() })
  try {
    return (await lines.question(harmless(question))).trim()
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
    printError('\n')
    throw new Ending(exitCodes.interrupted)
  } finally {
    lines.close()
  }
}

/** A password: never echoed, and never on the command line, where other users could see it. */
export async function askSecret(question: string): Promise<string> {
  const given = process.env.NATTER_PASSWORD
  if (given !== undefined && given !== '') return given
  const secret = process.stdin.isTTY ? await readHidden(question) : await firstLine()
  if (secret === '') throw usage('no password given', 'Type it at a terminal, set NATTER_PASSWORD, or pipe it in.')
  return secret
}

function readHidden(question: string): Promise<string> {
  const { stdin } = process
  // Before the prompt, so that fast typing is not echoed either.
  stdin.setRawMode(true)
  printError(question)
  stdin.setEncoding('utf8')
  let typed: string[] = []
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      stdin.off('data', onData)
      stdin.setRawMode(false)
      stdin.pause()
      printError('\n')
      finish()
    }
    const onData = (text: string) => {
      for (const character of text) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed.join('')))
        if (character === '\u0003') return end(() => reject(new Ending(exitCodes.interrupted)))
        if (character === '\u0004') return end(() => reject(usage('no password given')))
        if (character === '\u007f' || character === '\b') typed.pop()
        else if (character === '\u0015') typed = []
        else typed.push(character)
      }
    }
    stdin.on('data', onData)
    stdin.resume()
  })
}

async function firstLine(): Promise<string> {
  const { readStdin } = await import('./stdin.ts')
  return (await readStdin()).split(/\r?\n/)[0] ?? ''
}
