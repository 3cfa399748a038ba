// Batches that end early: what they report, and how the next run continues without doing anything twice.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { mostRepeated, Resume } from '../../cli/catalogue/resume.ts'
import { accountAt, fakeServer, json, newShell, type Shell, Watched } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

describe('natter send --batch', () => {
  const daemon = sharedDaemon({ flags: ['--preset', 'dev', '--control'] })

  function shellFor(t: TestContext): Shell {
    const { url, ready } = daemon()
    return newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
  }

  async function contentsIn(shell: Shell, topic: string): Promise<string[]> {
    const { stdout } = await shell.run(['messages', 'list', '--topic', topic, '--all', '--jq', '.messages[].content'])
    return stdout.trim().split('\n')
  }

  test('--resume continues after lost answers, and no line is sent twice', async t => {
    const shell = shellFor(t)
    const file = join(shell.home, 'lines.ndjson')
    const texts = Array.from({ length: 8 }, (_, index) => `line ${index + 1}`)
    writeFileSync(file, texts.map(content => `${JSON.stringify({ content })}\n`).join(''))
    const args = ['send', '#general>resume', '--batch', file, '--resume', 'state.json', '--parallel', '2']
    // The fourth message arrives, but its sender never learns that.
    const fault = { kind: 'drop-after-write', endpoint: 'send-message', after: 3, times: 1 }
    await new Control(daemon()).call('POST', '/faults', fault)
    const first = await shell.run(args)
    assert.equal(first.code, 1, first.stderr)
    assert.match(first.stdout, /"line":4,.*UNREACHABLE/)
    const second = await shell.run(args)
    assert.equal(second.code, 0, second.stderr)
    assert.match(second.stderr, /continued after line 3, where an earlier run ended/)
    assert.deepEqual((await contentsIn(shell, 'resume')).sort(), texts)
    // Everything is done, and a file with other lines is another batch.
    const third = await shell.run(args)
    assert.deepEqual([third.code, third.stdout], [0, ''])
    writeFileSync(file, readFileSync(file, 'utf8').replace('line 2', 'LINE 2'))
    const other = await shell.run(args)
    assert.equal(other.code, 1)
    assert.match(other.stderr, /state.json is about another batch: .*\n {2}Use another file, or remove state.json/)
  })

  test('--resume sends no more lines than the daemon remembers before it knows that the first one is done', async t => {
    let calls = 0
    let answerFirst: () => void
    const url = await fakeServer(t, (_request, response) => {
      calls++
      if (calls === 1) answerFirst = () => json(response, { result: 'error', code: 'X', msg: 'no' }, 400)
      else json(response, { result: 'success', msg: '', id: calls })
      if (calls === mostRepeated) answerFirst()
    })
    const shell = newShell(t, accountAt(url))
    const input = '{"type":"direct","to":[7],"content":"x"}\n'.repeat(3 * mostRepeated)
    const flags = ['--resume', 'state.json', '--parallel', '1000']
    const { code, stdout } = await shell.run(['send', '--batch', '-', ...flags], { input })
    assert.equal(code, 1)
    assert.deepEqual([calls, stdout.split('\n').length - 1], [mostRepeated, mostRepeated])
  })

  test('--resume writes how far it came after so many lines, however fast they are, and stops when it cannot', async t => {
    const folder = join(newShell(t).home, 'folder')
    mkdirSync(folder)
    const file = join(folder, 'state.json')
    const resume = new Resume(file, [])
    const finish = (line: number) => {
      resume.read(line, 'x')
      resume.finish(line)
      return line - JSON.parse(readFileSync(file, 'utf8')).done
    }
    for (let line = 1; line <= 3 * mostRepeated; line++) assert.ok(finish(line) < mostRepeated)
    rmSync(folder, { recursive: true })
    resume.write()
    assert.match(resume.failure!.message, /^cannot write .*state\.json: ENOENT$/)
    assert.throws(() => new Resume(file, []), /cannot write/)
  })

  test('a page or a redirect of a proxy is a failed call, which --resume makes again', async t => {
    const answers: readonly (readonly [number, string])[] = [
      [302, '<html>Log in</html>'],
      [200, '<html>Log in</html>'],
      [200, '{"result":"error","msg":"no"}'],
      [200, '{"result":"success","msg":"","id":7}'],
    ]
    let calls = 0
    const url = await fakeServer(t, (_request, response) => {
      const [status, text] = answers[calls++]!
      response.writeHead(status).end(text)
    })
    const shell = newShell(t, accountAt(url))
    const input = '{"type":"direct","to":[7],"content":"one"}\n'
    const run = () => shell.run(['send', '--batch', '-', '--resume', 'state.json'], { input })
    for (const _ of answers.slice(0, 3)) assert.equal((await run()).code, 1)
    assert.equal((await run()).code, 0)
    assert.equal(calls, 4)
  })

  test('--resume refuses a shorter batch, one with a blank line at the end of what is done, other flags and another account', async t => {
    const shell = shellFor(t)
    const lines = ['{"content":"1"}', '{"content":"2"}', '{"content":"3"}']
    const run = (to: string, input: readonly string[], env = {}) =>
      shell.run(['send', to, '--batch', '-', '--resume', 'state.json'], { input: input.join('\n'), env })
    assert.equal((await run('#general>batch', lines)).code, 0)
    for (const [to, input, env] of [
      ['#general>batch', ['{"content":"other"}']],
      ['#general>batch', []],
      ['#general>batch', ['{"content":"other"}', '{"content":"other"}', '', '{"content":"other"}']],
      ['#general>elsewhere', lines],
      ['#general>batch', lines, { NATTER_EMAIL: 'another@example.com' }],
    ] as const) {
      const { code, stdout, stderr } = await run(to, input, env)
      assert.deepEqual([code, stdout], [1, ''], stderr)
      assert.match(stderr, /^natter: state.json is about another batch: .*\n.*\n$/)
    }
    const longer = await run('#general>batch', [...lines, '', '{"content":"4"}'])
    assert.equal(longer.code, 0, longer.stderr)
    assert.deepEqual(await contentsIn(shell, 'batch'), ['1', '2', '3', '4'])
  })

  test('-0 reads objects that span lines', async t => {
    const shell = shellFor(t)
    const input = ['one', 'two'].map(content => `${JSON.stringify({ content }, null, 2)}\0`).join('')
    const { code, stderr } = await shell.run(['send', '#general>nul', '--batch', '-', '-0'], { input })
    assert.equal(code, 0, stderr)
    assert.deepEqual(await contentsIn(shell, 'nul'), ['one', 'two'])
  })

  test('--resume and -0 need --batch', async t => {
    for (const flag of [['--resume', 'x'], ['-0']]) {
      const { code, stderr } = await shellFor(t).run(['send', '#general>x', 'text', ...flag])
      assert.equal(code, 2)
      assert.match(stderr, /needs --batch/)
    }
  })

  test('Ctrl-C reports exactly the calls that were made', async t => {
    let calls = 0
    const held: (() => void)[] = []
    const url = await fakeServer(t, (_request, response) => {
      calls++
      held.push(() => json(response, { result: 'success', msg: '', id: calls }))
      // The first two are answered at once, later ones when the test says so.
      if (calls <= 2) held.shift()!()
    })
    const shell = newShell(t, accountAt(url))
    const batch = new Watched(t, shell.spawn(['send', 'amy@example.com', '--batch', '-', '--parallel', '2']))
    // The input stays open: more could come.
    batch.child.stdin!.write('{"content":"x"}\n'.repeat(4))
    await until(() => calls === 4)
    batch.child.kill('SIGINT')
    await batch.said(/waiting for calls under way: \d/)
    for (const answer of held) answer()
    assert.equal(await batch.ended, 130)
    assert.equal(batch.lines.length, 4, batch.stderr)
    assert.match(batch.stderr, /interrupted; calls made and reported: 4, of these failed: 0/)
  })
})
