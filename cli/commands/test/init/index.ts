// `natter init KIND`: writes the few files with which a project is tested against a daemon.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { didYouMean } from '../../../../daemon/local/did-you-mean.ts'
import { usage } from '../../../base/failure.ts'
import { formatFlags } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import { isUnderNpx, programName } from '../../../base/program-name.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { version } from '../../../base/version.ts'
import { print } from '../../../base/writer.ts'
import { printFormatted } from '../../../print/output.ts'
import { writeNewFiles } from '../../bot/new.ts'
import { scaffolds } from './scaffolds.ts'

const kinds = Object.keys(scaffolds)

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'init',
    about: 'Write the files that test a project with natter, with comments that explain them',
    args: [{ name: 'kind', about: `one of ${kinds.join(', ')}` }],
    flags: [{ name: 'print', about: 'print the files instead of writing them, to add them to yours' }],
    globals: [...formatFlags, 'quiet'],
    more: `The files are written to the current folder; the answer is the command that runs them. If one of them exists, nothing is written.
${Object.entries(scaffolds)
  .map(([kind, { about, files }]) => `  ${kind.padEnd(8)} ${about}: ${Object.keys(files).join(', ')}`)
  .join('\n')}`,
    examples: ['natter init pytest', 'natter init pytest --print', 'natter init github', 'natter init bot'],
    async run({ args, flags, globals }) {
      const kind = args[0]!
      const scaffold = Object.hasOwn(scaffolds, kind) ? scaffolds[kind] : undefined
      if (!scaffold)
        throw usage(`natter init does not know "${kind}"`, didYouMean(kind, kinds) ?? `It knows ${kinds.join(', ')}.`)
      const contents = {
        ...scaffold.files,
        ...(existsSync('package-lock.json') && scaffold.withLock),
        ...(isUnderNpx() && scaffold.withNpx),
      }
      if (flags.print === true) {
        for (const [file, text] of Object.entries(contents)) print(`==> ${file} <==\n${text}\n`)
        return
      }
      const files = Object.keys(contents)
      writeNewFiles(
        contents,
        `Nothing was written. natter init ${kind} --print prints the files, so that you can add them to yours.`,
      )
      const run = scaffold.run.replace(/^natter /, `${programName()} `)
      if (await printFormatted({ files, run }, globals)) return
      if (kind === 'go' && !existsSync('go.mod'))
        note('there is no go.mod here. First: go mod init example.com/project')
      if (kind === 'github' && isInsideRepository(process.cwd()))
        note('GitHub reads workflows only in the root of the repository: move the folder .github there')
      if (Object.values(scaffold.files).some(text => text.includes("'natter/testing'")) && !isInstalledHere())
        note(`natter is not installed in this project. First: npm install --save-dev ./natter-${version()}.tgz`)
      note(`wrote ${files.join(', ')}; run`)
      print(`${run}\n`)
    },
  },
]

/** Whether a folder above this one is the root of a repository. */
function isInsideRepository(folder: string): boolean {
  const parent = dirname(folder)
  if (existsSync(join(folder, '.git')) || parent === folder) return false
  return existsSync(join(parent, '.git')) || isInsideRepository(parent)
}

/** Whether the files can import the libraries; a global installation has the programs only. */
function isInstalledHere(): boolean {
  try {
    createRequire(join(process.cwd(), 'x.js')).resolve('natter/testing')
    return true
  } catch {
    return false
  }
}
