// The files of a new bot: a handler that answers, and a test that runs it.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomicallySync } from '../../../daemon/local/atomic-file.ts'
import { makeFolderInside } from '../../../daemon/local/plain-files.ts'
import { usage } from '../../base/failure.ts'
import { refuseExisting } from '../../base/files.ts'
import type { Globals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { programName } from '../../base/program-name.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { findAccount } from '../../transport/control.ts'

export async function writeBot({ args: [name = 'echo'], flags, globals }: Invocation): Promise<void> {
  if (!/^[\w-]{1,60}$/.test(name)) throw usage(`a bot cannot be called '${name}': use letters, digits, - and _`)
  const files = botFiles(name, flags.js === true ? 'mjs' : isCommonJs(process.cwd()) ? 'mts' : 'ts')
  writeNewFiles(files, 'Choose another name.')
  const [handler] = Object.keys(files)
  if (await printFormatted({ files: Object.keys(files) }, globals)) return
  const isRunning = await hasEchoBot(globals)
  note(`wrote ${Object.keys(files).join(' and ')}; ${isRunning ? 'run it' : 'start a daemon in memory, and run it'}:`)
  const natter = programName()
  if (!isRunning) print(`${natter} daemon start --memory --preset dev --port 0\n`)
  print(`${natter} bot run ${handler} --as echo-bot\n`)
  note('then, in another terminal:')
  print(`${natter} send echo-bot 'Hello'\n`)
}

/** Whether `import` is a syntax error in a `.ts` file of this project. `npm init` makes such projects. */
function isCommonJs(folder: string): boolean {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return /"type"\s*:\s*"commonjs"/.test(readFileSync(file, 'utf8'))
  const parent = dirname(folder)
  return parent !== folder && isCommonJs(parent)
}

/** Whether a daemon runs that the next steps work with. */
function hasEchoBot(globals: Globals): Promise<boolean> {
  return findAccount({ ...globals, timeout: 5000 }, 'echo-bot').then(
    () => true,
    () => false,
  )
}

/** The text of each file, the handler first. */
export function botFiles(name: string, ending: 'ts' | 'mts' | 'mjs'): Record<string, string> {
  const handler = `${name}.${ending}`
  return { [handler]: ending === 'mjs' ? handlerJs : handlerTs, [`${name}.test.${ending}`]: renderTest(handler) }
}

/** Writes all of them to the current folder, or none if one exists or cannot be written. */
export function writeNewFiles(files: Readonly<Record<string, string>>, hint: string): void {
  for (const file of Object.keys(files)) refuseExisting(file, hint)
  const written: string[] = []
  try {
    for (const [file, text] of Object.entries(files)) {
      makeFolderInside('.', dirname(file))
      writeFileAtomicallySync(file, text, { replace: false, mode: 0o666 })
      written.push(file)
    }
  } catch (error) {
    for (const file of written) rmSync(file, { force: true })
    throw error
  }
}

const opening = '// Called with each message for the bot. A text that it returns is the reply.'

const body = [
  "  const count = Number((await bot.storage.get('count')) ?? 0) + 1",
  "  await bot.storage.put('count', String(count))",
  `  return \`You said: \${message.text} (message \${count})\``,
  '}',
]

const handlerTs = lines(
  opening,
  "import type { BotHandler } from 'natter/client'",
  '',
  'const handle: BotHandler = async (message, bot) => {',
  ...body,
  '',
  'export default handle',
)

const handlerJs = lines(
  opening,
  '/** @type {import("natter/client").BotHandler} */',
  'export default async function handle(message, bot) {',
  ...body,
)

function renderTest(handler: string): string {
  return lines(
    "import { test } from 'node:test'",
    "import { startNatter } from 'natter/testing'",
    `import handle from './${handler}'`,
    '',
    "test('it answers', async t => {",
    '  const natter = await startNatter()',
    '  t.after(() => natter.stop())',
    "  await natter.runBot(handle, { as: 'echo-bot' })",
    "  const to = [natter.account('echo-bot').userId]",
    "  await natter.as('amy').messages.send({ type: 'direct', to, content: 'Hello' })",
    "  await natter.waitFor({ type: 'message', message: { content: 'You said: Hello (message 1)' } })",
    '})',
  )
}

function lines(...all: string[]): string {
  return `${all.join('\n')}\n`
}
