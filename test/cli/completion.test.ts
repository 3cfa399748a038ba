// The completion scripts in the shells they are for, with a daemon whose names they know. Shells that are not installed are
// left out, except bash.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { accountAt, newShell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { Screen } from '../support/terminal.ts'
import { until } from '../support/until.ts'

const daemon = sharedDaemon()
const folder = mkdtempSync(join(tmpdir(), 'natter-completion-'))
let env: Record<string, string> = {}
let prepared: Promise<void> | undefined

function ready(): Promise<void> {
  prepared ??= prepare()
  return prepared
}

async function prepare(): Promise<void> {
  // A folder with nothing else of ours in it, for PATH.
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(import.meta.dirname, '../../bin/natter'), join(folder, 'bin/natter'))
  const { url, ready } = daemon()
  const account = accountAt(url, ready.owner.email, ready.owner.api_key)
  env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, TERM: 'xterm', ...account }
  const shell = newShell({ after: () => {} } as unknown as TestContext, account)
  for (const words of [
    ['subscribe', 'general'],
    ['subscribe', 'design team'],
    ['subscribe', '*'],
    ['subscribe', "it's !PS1"],
    ['send', '#general>deploys', 'hello'],
    ['send', '#general>release notes', 'hello'],
    ['users', 'create', 'amy@example.com', 'Amy Adams', '--password', 'a long password of amy'],
  ])
    assert.equal((await shell.run(words)).code, 0, words.join(' '))
  // Once for all lines; a test at the prompt takes it from the command.
  for (const name of ['bash', 'fish'])
    writeFileSync(join(folder, `natter.${name}`), (await shell.run(['completion', name])).stdout)
  rmSync(shell.home, { recursive: true, force: true })
}

after(() => rmSync(folder, { recursive: true, force: true }))

/** What is typed, and what must be offered. */
const cases: readonly (readonly [string, string])[] = [
  ['natter snip', 'snippets'],
  ['natter channels arch', 'archive'],
  ['natter tail --chan', '--channel'],
  ['natter tail --channel gen', 'general'],
  ['natter send --channel general --topic dep', 'deploys'],
  ['natter send --to am', 'amy@example.com'],
  ['natter help exit', 'exit-codes'],
  ['natter flags read-a', 'read-all'],
  ['natter flags add star', 'starred'],
  ['natter tail --type reactio', 'reaction'],
  ['natter api PAT', 'PATCH'],
  ['natter daemon start --dura', '--durability'],
  ['natter daemon run --log-level tr', 'trace'],
  ['natter exec --pres', '--preset'],
  ['natter faults add dup', 'duplicate-event'],
  ['natter faults add status --endpoint send-mes', 'send-message'],
  ['natter reactions add 1 octop', 'octopus'],
  ['natter daemon start --preset de', 'dev'],
  ['natter completion pow', 'powershell'],
  ['natter webhooks requests --status fai', 'failed'],
  ['natter users edit amy@example.com --role mod', 'moderator'],
]

describe('natter __complete', () => {
  for (const [line, wanted] of cases)
    test(`offers one word after: ${line}`, async t => {
      await ready()
      const { ready: file, url } = daemon()
      const shell = newShell(t, accountAt(url, file.owner.email, file.owner.api_key))
      const offers = await until(async () => {
        const { stdout } = await shell.run(['__complete', '--', ...line.split(' ').slice(1)])
        return stdout.trimEnd()
      })
      assert.deepEqual(
        offers.split('\n').map(offer => offer.split('\t')[0]),
        [wanted],
      )
    })
})

describe('completion in bash', () => {
  const asked = async (line: string) => {
    await ready()
    const script = `source ${join(folder, 'natter.bash')}
COMP_LINE=$1 COMP_POINT=\${#1}
shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_natter; printf '%s\\n' "\${COMPREPLY[@]}"`
    const words = line.split(/(?<=[@:=])|(?=[@:=])|\s+/)
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script, 'bash', line, ...words], { env })
    return stdout.split('\n').filter(text => text !== '')
  }
  /** Names are offered when the daemon answers in time; once it has, they are known for a while. */
  const offered = (line: string) =>
    until(async () => {
      const found = await asked(line)
      return found.length > 0 && found
    })

  // The script passes on what natter offers, whatever the line is about.
  for (const [line, wanted] of cases.slice(0, 5))
    test(`offers one word after: ${line}`, async () => {
      assert.deepEqual(await offered(line), [wanted])
    })

  test('names with spaces are quoted; words that bash cuts at @ are whole', async () => {
    assert.deepEqual(await offered('natter tail --channel des'), ['design\\ team'])
    assert.deepEqual(await offered('natter send --to amy@exa'), ['@example.com'])
    assert.deepEqual(await offered('natter send --to amy@'), ['@example.com'])
    // First the flags of the daemon, then those of every subcommand.
    const ofExec = await offered('natter exec --')
    assert.deepEqual(ofExec.slice(-3), ['--quiet', '--control-token', '--timeout'])
    assert.ok(ofExec.indexOf('--control') < ofExec.indexOf('--quiet') && ofExec.includes('--control'))
  })

  test('inside quotes, names are offered as they are', async () => {
    for (const words of ['send', 'topics rename', 'topics delete'])
      assert.deepEqual(await offered(`natter ${words} "#general>rel`), ['#general>release notes'])
    for (const quote of ['"', "'"]) assert.deepEqual(await offered(`natter tail --channel d${quote}es`), ['esign team'])
  })

  test('a channel is offered with its topics, so that the word goes on', async () => {
    const offer = await offered("natter send '#des")
    assert.deepEqual(offer, ['#design team', '#design team>channel events'])
  })

  test('a channel called * is offered as it is called, not as the files around', async () => {
    const names = await offered('natter tail --channel ')
    assert.ok(names.includes('\\*'), names.join())
    assert.ok(!names.includes('bin') && !names.includes('package.json'), names.join())
  })

  test('completes the word when Tab is pressed at the prompt', async t => {
    const screen = await prompt(t, 'bash', ['--norc', '--noprofile', '-i'])
    if (!screen) return t.skip('no pseudo-terminal')
    screen.type("PS1='> '; source <(natter completion bash); echo set\r")
    await screen.shows(/\n\r?set\n> /)
    for (const line of ['natter tail --channel des', 'natter send --to amy@exa']) await offered(line)
    screen.type('natter tail --channel des\t')
    await screen.shows(/--channel design\\ team/)
    await offered("natter send '#general>rel")
    screen.type("\u0015natter send '#general>rel\t")
    await screen.shows(/send '#general>release notes'/)
    // The line as bash has it is what `echo` prints.
    screen.type('\u0015natter send --to amy@ex\t\u0001echo \r')
    await screen.shows(/\n\r?natter send --to amy@example\.com\n/)
  })

  /** Returns what tells the words of a line after Tab, and what is typed after that. */
  const atPrompt = async (t: TestContext) => {
    const screen = await prompt(t, 'bash', ['--norc', '--noprofile', '-i'])
    if (!screen) return undefined
    screen.type("PS1='> '; source natter.bash; echo set\r")
    await screen.shows(/\n\r?set\n> /)
    return async (line: string, end = '') => {
      screen.text = ''
      screen.type(`${line}\t${end}\u0001printf '<%s>' \u0005; echo .over\r`)
      await screen.shows(/\.over\n> /)
      return /^\r?(<.*>)\.over$/m.exec(screen.plain)?.[1]
    }
  }

  test('the name of a file is one word, with and without quotes', async t => {
    const words = await atPrompt(t)
    if (!words) return t.skip('no pseudo-terminal')
    for (const name of ['1;touch ran;$(touch ran) !PS1 x.pdf', '2|touch ran&touch ran&`touch ran`.pdf']) {
      writeFileSync(join(folder, name), '')
      for (const quote of ['', '"', "'"])
        assert.equal(await words(`natter uploads create ${quote}${name[0]}`), `<natter><uploads><create><${name}>`)
    }
    assert.ok(!existsSync(join(folder, 'ran')))
  })

  test('a name with ! takes nothing from the history', async t => {
    const words = await atPrompt(t)
    if (!words) return t.skip('no pseudo-terminal')
    await offered("natter send '#it")
    // Within these quotes nothing shields it, so it is not offered.
    assert.equal(await words('natter send "#it', '"'), '<natter><send><#it>')
    assert.equal(await words("natter send '#it", "'"), "<natter><send><#it's !PS1>")
    assert.equal(await words('natter tail --channel it'), "<natter><tail><--channel><it's !PS1>")
    assert.equal(await words('natter tail --channel d"es'), '<natter><tail><--channel><design team>')
  })
})

describe('completion in fish', { skip: !has('fish') && 'fish is not installed' }, () => {
  for (const [line, wanted] of [...cases, ['natter tail --channel des', 'design team']] as const)
    test(`offers one word after: ${line}`, async () => {
      await ready()
      const asked = ['--no-config', '-c', `source ${join(folder, 'natter.fish')}; complete -C '${line}'`]
      const texts = await until(async () => {
        const { stdout } = await promisify(execFile)('fish', asked, { env })
        const lines = stdout.split('\n').map(found => found.split('\t')[0]!.replaceAll('\\', ''))
        return lines.some(Boolean) && lines.filter(Boolean)
      })
      assert.deepEqual(texts, [wanted])
    })
})

describe('completion in zsh', { skip: !has('zsh') && 'zsh is not installed' }, () => {
  test('completes the word when Tab is pressed at the prompt', async t => {
    const screen = await prompt(t, 'zsh', ['-f', '-i'])
    if (!screen) return t.skip('no pseudo-terminal')
    screen.type("PS1='> '; autoload -U compinit; compinit -u -D; source <(natter completion zsh); echo set\r")
    await screen.shows(/\n\r?set\n/)
    for (const [line, wanted] of [
      ...cases,
      ['natter tail --channel des', 'design\\ team'],
      ['natter send --to amy@ex', 'amy@example.com'],
    ] as const) {
      screen.text = ''
      // Once more now and then, when the daemon was too slow to say a name.
      const again = setInterval(() => screen.type(`\u0015${line}\t`), 5000)
      screen.type(`\u0015${line}\t`)
      await screen.shows(new RegExp(wanted.replace(/[\\.-]/g, '\\$&'))).finally(() => clearInterval(again))
    }
  })
})

function has(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0
}

async function prompt(t: TestContext, file: string, args: string[]): Promise<Screen | undefined> {
  await ready()
  try {
    const { spawn } = await import('@lydell/node-pty')
    return new Screen(t, spawn(file, args, { cols: 100, rows: 30, cwd: folder, env }))
  } catch {
    return undefined
  }
}

// No PowerShell is needed for this: it is about the words that its script passes on, and not about the script.
describe('completion in PowerShell', () => {
  test('has a script, and an empty word may come as two quotes', async t => {
    await ready()
    const shell = newShell(t, accountAt(daemon().url, daemon().ready.owner.email, daemon().ready.owner.api_key))
    const { code, stdout } = await shell.run(['completion', 'powershell'])
    assert.equal(code, 0)
    assert.match(stdout, /^Register-ArgumentCompleter -Native -CommandName natter -ScriptBlock \{$/m)
    // Doubles each of the five characters that end a quoted word.
    assert.match(stdout, /::EscapeSingleQuotedStringContent\(\$text\)/)
    assert.match(stdout, /-match '\^\[\\w/)
    const [plain, quoted] = [
      await shell.run(['__complete', '--', 'snippets', '']),
      await shell.run(['__complete', '--', 'snippets', '""']),
    ]
    assert.match(plain.stdout, /^create\t/m)
    assert.equal(quoted.stdout, plain.stdout)
  })
})
