// The folder that is kept of a failed command or test, and how it is brought back.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { forgetFailure, refuseOthers } from '../../daemon/local/failure-folder.ts'
import { startNatter } from '../../daemon/testing/index.ts'
import { environmentOf, newShell, Watched } from '../support/cli.ts'
import { sharedDaemon, startDaemon } from '../support/daemon.ts'

const root = join(import.meta.dirname, '../..')
const library = pathToFileURL(join(root, 'dist/testing.mjs')).href
const natter = `${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'bin/natter'))}`

describe('natter exec --on-failure and --resume', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  test('keep everything in one folder, and bring the world back with its clock', async t => {
    const shell = newShell(t)
    const [folder, seed] = [join(shell.home, 'failure'), join(shell.home, 'seed.yaml')]
    const user = '{ email: zoe@example.com, name: Zoe, password: "correct horse, battery" } # new'
    writeFileSync(seed, `channels:\n  - { name: extra }\nusers:\n  - ${user}\n`)
    const flags = ['--preset', 'dev', '--seed', seed, '--secret', 'hush', '--clock', 'frozen@2030-01-01T00:00:00Z']
    const script = `${natter} send '#general>lunch' 'Pizza?' && ${natter} queues register --json > /dev/null && exit 3`
    const run = await shell.natter(['exec', '--on-failure', folder, ...flags, '--', 'sh', '-c', script])
    assert.equal(run.code, 3, run.stderr)
    assert.match(run.stderr, /the command failed; see .*README\.md, or run (npx )?natter exec --resume /)
    assert.deepEqual(readdirSync(folder).sort(), [
      'README.md',
      'calls.ndjson',
      'clock.json',
      'daemon.log',
      'events.ndjson',
      'faults.json',
      'outbox.ndjson',
      'queues.json',
      'run.json',
      'seed.yaml',
      'snapshot.json',
      'webhooks.ndjson',
    ])
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const calls = read('calls.ndjson')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.ok(calls.some(({ endpoint, answer }) => endpoint === 'send-message' && /"result":"success"/.test(answer)))
    assert.match(read('events.ndjson'), /Pizza\?/)
    assert.match(read('seed.yaml'), /name: Zoe, password: ["']?\*\*\*["']? } # new/)
    assert.equal(JSON.parse(read('queues.json')).length, 1)
    assert.equal(JSON.parse(read('clock.json')).time, '2030-01-01T00:00:00.000Z')
    const { what, exit_code, flags: kept } = JSON.parse(read('run.json'))
    assert.deepEqual([what.startsWith('sh -c'), exit_code], [true, 3])
    assert.ok(!kept.includes('hush') && kept.includes('***'))

    // Without a command it runs until it is interrupted.
    const resumed = new Watched(t, shell.spawn(['exec', '--resume', folder]))
    await resumed.said(/Inspector: http:.*#token=.*\n/)
    const [, site, token] = /Running at (\S+) [\s\S]*#token=(\S+)/.exec(resumed.stderr)!
    const at = shell.with({ NATTER_SITE: site!, NATTER_CONTROL_TOKEN: token! })
    const last = ['messages', 'list', '-n', '1', '--fields', 'content', '--as', 'owner@example.com']
    assert.equal((await at.run(last)).stdout, 'Pizza?\n')
    assert.equal((await at.run(['clock', 'show', '--fields', 'time'])).stdout, '2030-01-01T00:00:00.000Z\n')
    resumed.child.kill('SIGINT')
    assert.equal(await resumed.ended, 0)
  })

  test('leave nothing where the command succeeds', async t => {
    const shell = newShell(t)
    assert.equal((await shell.run(['exec', '--on-failure', 'failure', '--', 'true'])).code, 0)
    assert.deepEqual(readdirSync(shell.home), [])
  })

  test('remove what an earlier run kept, and nothing else', async t => {
    const shell = newShell(t)
    const [folder, seed] = [join(shell.home, 'failure'), join(shell.home, 'seed.json')]
    const user = '{"email":"zoe@example.com","name":"Zoe","password":"say \\"hi\\""}'
    writeFileSync(seed, `{"users":[${user}]}`)
    const fail = `${natter} spaces create worker-1 --json > /dev/null; exit 1`
    const args = ['exec', '--on-failure', folder, '--seed', seed, '--']
    assert.equal((await shell.run([...args, 'sh', '-c', fail])).code, 1)
    assert.equal(JSON.parse(readFileSync(join(folder, 'seed.json'), 'utf8')).users[0].password, '***')
    assert.ok(existsSync(join(folder, 'spaces/worker-1')))
    writeFileSync(join(folder, 'mine.txt'), '')
    assert.equal((await shell.run([...args, 'true'])).code, 0)
    assert.deepEqual(readdirSync(folder), ['mine.txt'])
  })

  test('replace and remove nothing that natter did not write', async t => {
    const shell = newShell(t)
    const project = join(shell.home, 'project')
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(project, name)), { recursive: true })
      writeFileSync(join(project, name), text)
    }
    const exec = (command: string) =>
      shell.run(['exec', '--on-failure', '.', '--', 'sh', '-c', command], { cwd: project })
    write('spaces/design.md', 'mine')
    write('data/run.json', '{}')
    write('data/snapshot.json', '{}')

    const create = `${natter} spaces create one --json > /dev/null`
    assert.equal((await exec(`${create}; ${natter} keep a-test; exit 5`)).code, 5)
    assert.ok(existsSync(join(project, 'spaces/one/README.md')))
    const keptBefore = readdirSync(project)
    write('seed.yaml', 'channels: []')
    const refused = await exec('touch ran; exit 5')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /cannot write \.: seed\.yaml exists, and natter did not write it/)
    const kept = await shell.with(environmentOf(daemon())).run(['keep', '.'], { cwd: project })
    assert.equal(kept.code, 1)
    assert.match(kept.stderr, /cannot write \.: seed\.yaml exists/)
    assert.deepEqual(readdirSync(project).sort(), [...keptBefore, 'seed.yaml'].sort())
    assert.ok(existsSync(join(project, 'spaces/one/README.md')))

    rmSync(join(project, 'seed.yaml'))
    assert.equal((await exec('true')).code, 0)
    assert.deepEqual(readdirSync(project).sort(), ['data', 'spaces'])
    assert.deepEqual(readdirSync(join(project, 'spaces')), ['design.md'])
    assert.equal(readdirSync(join(project, 'data')).length, 2)

    write('README.md', '# Mine')
    assert.equal((await exec('true')).code, 1)
    assert.equal(readFileSync(join(project, 'README.md'), 'utf8'), '# Mine')
  })

  test('leave the current folder where it is', async t => {
    const shell = newShell(t)
    const cwd = join(shell.home, 'failure')
    mkdirSync(cwd)
    assert.equal((await shell.run(['exec', '--on-failure', '.', '--', 'false'], { cwd })).code, 1)
    assert.equal((await shell.run(['exec', '--on-failure', cwd, '--', 'ls'], { cwd })).code, 0)
    assert.deepEqual(readdirSync(cwd), [])
  })

  test('refuse a flag whose value was forgotten, wherever it is', async t => {
    const shell = newShell(t)
    for (const flags of [
      ['--on-failure'],
      ['--preset', 'dev', '--on-failure'],
      ['--seed'],
      ['--preset', 'dev', '--as'],
    ]) {
      const { code, stdout, stderr } = await shell.run(['exec', ...flags, '--', 'touch', 'ran'])
      assert.deepEqual([code, stdout], [2, ''], stderr)
      assert.match(stderr, new RegExp(`option '${flags.at(-1)} <\\w+>' argument missing`))
    }
    assert.deepEqual(readdirSync(shell.home), [])
  })

  test('print a command that can be pasted, also for a folder with a space', async t => {
    const shell = newShell(t)
    const { stderr } = await shell.run(['exec', '--on-failure', "it's a failure", '--', 'false'])
    const [line] = /natter exec --resume .*$/m.exec(stderr)!
    const pasted = `natter() { ${natter} "$@"; }; ${line} -- true`
    assert.equal(spawnSync('sh', ['-c', pasted], { cwd: shell.home }).status, 0)
  })

  test('name the test that failed first, whatever its name', async t => {
    const shell = newShell(t)
    const keep = (test: string) => `${natter} keep "$NATTER_ON_FAILURE/${test}"`
    const args = ['exec', '--on-failure', 'failure', '--', 'sh', '-c', `${keep('zebra')} && ${keep('ant')} && exit 1`]
    const { stderr } = await shell.run(args)
    assert.match(stderr, /natter exec --resume failure\/zebra \(1 more in failure\)\n/)
  })

  test('keep each level in a folder of its own', async t => {
    const shell = newShell(t)
    const fail = '[ "$NATTER_LEVEL" = 421 ]'
    const args = ['exec', '--on-failure', 'failure', '--levels', '421,498', '--jobs', '2', '--', 'sh', '-c', fail]
    const { code, stderr } = await shell.run(args)
    assert.equal(code, 1, stderr)
    assert.deepEqual(readdirSync(join(shell.home, 'failure')), ['498'])
    assert.match(stderr, /natter exec --resume failure\/498$/m)
    assert.equal((await shell.run(args.with(4, '421'))).code, 0)
    assert.ok(!existsSync(join(shell.home, 'failure')))
  })

  test('keep every space that the command left, for a fixture that finds NATTER_ON_FAILURE', async t => {
    const shell = newShell(t)
    const folder = join(shell.home, 'failure')
    const script = `${natter} spaces create worker-1 --json > /dev/null && test "$NATTER_ON_FAILURE" = ${folder} && exit 4`
    const run = await shell.run(['exec', '--on-failure', 'failure', '--', 'sh', '-c', script])
    assert.equal(run.code, 4, run.stderr)
    assert.match(run.stderr, /natter exec --resume failure\/spaces\/worker-1\n/)
    const kept = join(folder, 'spaces/worker-1')
    // An artifact is looked at elsewhere, where npx would fetch another package of this name.
    const advice =
      /Run this(?: in your project)?; FOLDER is the path of this folder:\n\n {4}(?:npx )?natter exec --resume FOLDER\n/
    assert.match(readFileSync(join(kept, 'README.md'), 'utf8'), advice)
    const resumed = await startDaemon(t, { flags: ['--memory', '--from', join(kept, 'snapshot.json')] })
    assert.equal((await resumed.owner.call(users.me, {})).role, 100)
  })

  test('natter keep does the same for a daemon that runs on', async t => {
    const shell = newShell(t, environmentOf(daemon()))
    const folder = join(shell.home, 'kept')
    assert.equal((await shell.run(['send', '#general>lunch', 'Pizza?'])).code, 0)
    assert.equal((await shell.run(['spaces', 'create', 'one'])).code, 0)
    const run = await shell.run(['keep', folder])
    assert.equal(run.code, 0, run.stderr)
    assert.match(run.stderr, /wrote .*kept/)
    assert.equal((await shell.run(['whoami'])).code, 0)
    assert.equal(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')).what, 'natter keep')
    assert.equal(JSON.parse(readFileSync(join(folder, 'spaces/one/run.json'), 'utf8')).what, 'natter keep (space one)')
    const resumed = await startDaemon(t, { flags: ['--memory', '--from', join(folder, 'snapshot.json')] })
    const newest = { anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false } as const
    const [message] = (await resumed.owner.call(messages.list, newest)).messages
    assert.equal(message!.content, 'Pizza?')
  })

  test('say what is wrong with a folder, and never hide how the command ended', async t => {
    const shell = newShell(t)
    mkdirSync(join(shell.home, 'empty'))
    const empty = await shell.run(['exec', '--resume', 'empty', '--', 'true'])
    assert.equal(empty.code, 2)
    assert.match(empty.stderr, /--resume: empty has no snapshot\.json/)
    writeFileSync(join(shell.home, 'file'), '')
    const blocked = await shell.run(['exec', '--on-failure', 'file/inside', '--', 'sh', '-c', 'exit 7'])
    assert.equal(blocked.code, 7)
    assert.match(blocked.stderr, /the failure could not be kept: cannot write file\/inside/)
    const both = await shell.run(['exec', '--in', 'http://127.0.0.1:1', '--resume', 'empty', '--', 'true'])
    assert.equal(both.code, 2)
    const same = await shell.run(['exec', '--on-failure', 'kept', '--resume', 'kept/one-test', '--', 'true'])
    assert.equal(same.code, 2)
    assert.match(same.stderr, /--on-failure needs another folder than --resume/)
    const plain = await shell.run(['exec', '--on-failure', 'file', '--', 'true'])
    assert.match(plain.stderr, /cannot write file: /)
  })
})

describe('keepOnFailure', () => {
  test('is not needed in node:test, and replaces what is kept without it', t => {
    const { home } = newShell(t)
    const file = join(home, 'own.test.mjs')
    const tests = `import { after, afterEach, test } from 'node:test'
import { keepOnFailure, startNatter } from ${JSON.stringify(library)}
const shared = await startNatter()
after(() => shared.stop())
test('a good one', async t => {
  const natter = await startNatter()
  t.after(() => natter.stop())
})
test('a bad one: fails', async t => {
  const natter = await startNatter()
  t.after(() => natter.stop())
  await natter.owner.messages.send({ type: 'direct', to: ['bob@example.com'], content: 'Pizza?' })
  throw new Error('for a reason')
})
`
    writeFileSync(file, tests)
    const folder = join(home, 'kept')
    assert.equal(runTest(folder, file), 1)
    assert.deepEqual(readdirSync(folder).sort(), ['a-bad-one-fails', 'a-bad-one-fails-2'])
    assert.match(readFileSync(join(folder, 'a-bad-one-fails-2', 'events.ndjson'), 'utf8'), /Pizza/)

    const [chosen, unused] = [join(home, 'chosen'), join(home, 'unused')]
    writeFileSync(file, `${tests}keepOnFailure(() => shared, { afterEach, folder: ${JSON.stringify(chosen)} })\n`)
    assert.equal(runTest(unused, file), 1)
    assert.deepEqual(readdirSync(chosen), ['a-bad-one-fails'])
    assert.match(readFileSync(join(chosen, 'a-bad-one-fails/README.md'), 'utf8'), /Error: for a reason/)
    assert.ok(existsSync(join(chosen, 'a-bad-one-fails/snapshot.json')))
    assert.ok(!existsSync(unused))
  })

  test('tells tests of the same name apart, and replaces what they kept in an earlier run', t => {
    const { home } = newShell(t)
    const files = ['one', 'two'].map(name => join(home, `${name}.test.mjs`))
    for (const file of files)
      writeFileSync(
        file,
        `import { after, test } from 'node:test'
import { startNatter } from ${JSON.stringify(library)}
const natter = await startNatter()
after(() => natter.stop())
for (const turn of [1, 2]) test('it answers', () => { throw new Error('for a reason') })
`,
      )
    const folder = join(home, 'kept')
    for (const run of [['--test', ...files], [files[0]!]]) {
      assert.equal(runTest(folder, ...run), 1)
      const names = readdirSync(folder).sort()
      assert.deepEqual(names, ['it-answers', 'it-answers-2', 'it-answers-3', 'it-answers-4'])
      const kept = names.map(name => JSON.parse(readFileSync(join(folder, name, 'run.json'), 'utf8')).file)
      assert.deepEqual(kept.sort(), [files[0], files[0], files[1], files[1]])
    }
  })

  test('keeps a space of the daemon of natter exec, with and without a call of keepOnFailure', async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'space.test.mjs')
    const write = (before: string) =>
      writeFileSync(
        file,
        `import { afterEach, test } from 'node:test'
import { keepOnFailure, startNatter } from ${JSON.stringify(library)}
let natter
${before}
test('a bad one', async t => {
  natter = await startNatter({ in: process.env.NATTER_SITE })
  t.after(() => natter.stop())
  const amy = await natter.as('amy')
  await amy.messages.send({ type: 'channel', to: 'general', topic: 't', content: 'Pizza?' })
  throw new Error('for a reason')
})
test('a good one', async t => {
  const natter = await startNatter({ in: process.env.NATTER_SITE })
  t.after(() => natter.stop())
})
`,
      )
    for (const before of ['', 'keepOnFailure(() => natter, { afterEach })']) {
      write(before)
      const folder = join(shell.home, 'kept')
      const args = ['exec', '--preset', 'dev', '--on-failure', folder, '--', process.execPath, file]
      const { code, stderr } = await shell.natter(args)
      assert.equal(code, 1, stderr)
      const kept = join(folder, 'a-bad-one')
      assert.match(readFileSync(join(kept, 'README.md'), 'utf8'), /# a bad one.*Error: for a reason/s)
      assert.match(readFileSync(join(kept, 'calls.ndjson'), 'utf8'), /Pizza/)
      assert.ok(!existsSync(join(folder, 'a-good-one')) && !existsSync(join(folder, 'spaces')))
      assert.match(stderr.trim().split('\n').at(-1)!, /a-bad-one/)
      const again = ['exec', '--resume', kept, '--', 'sh', '-c', `${natter} messages list --json`]
      assert.match((await shell.natter(again)).stdout, /Pizza/)
    }
  })

  test('knows its files again after it was interrupted while it removed them', async t => {
    const { home } = newShell(t)
    writeFileSync(join(home, 'run.json'), '{"kept":["run.json","snapshot.json"]}')
    // A folder cannot be removed as a file, so the removal ends here.
    mkdirSync(join(home, 'snapshot.json'))
    assert.throws(() => forgetFailure(home))
    refuseOthers(home)
  })

  test('replaces no file that natter did not write', async t => {
    const { home } = newShell(t)
    const daemon = await startNatter()
    t.after(() => daemon.stop())
    await daemon.keep(join(home, 'kept'))
    await daemon.keep(join(home, 'kept'))
    writeFileSync(join(home, 'README.md'), '# Mine')
    await assert.rejects(daemon.keep(home), /README\.md exists/)
    assert.deepEqual(readdirSync(home).sort(), ['README.md', 'kept'])
  })

  function runTest(folder: string, ...args: readonly string[]): number | null {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    return spawnSync(process.execPath, args, { env: { ...env, NATTER_ON_FAILURE: folder } }).status
  }
})
