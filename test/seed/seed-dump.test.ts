import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import type { State } from '../../daemon/domain/model/state.ts'
import { memoryFiles } from '../../daemon/io/files.ts'
import { buildState, firstFacts } from '../../daemon/seed/found.ts'
import { startNatter } from '../../daemon/testing/index.ts'
import { seedText } from '../../daemon/world/snapshot-file.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { host, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { furnished, histories } from '../support/histories.ts'
import { World } from '../support/in-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-dump-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function dumped(state: State): Promise<string> {
  let text = ''
  for await (const piece of seedText(state, memoryFiles())) text += piece
  return text
}

/** As a first start does it. */
async function founded(seed: object): Promise<State> {
  const world = new World()
  const { state: _state, actor: _actor, now, ...surroundings } = world.context(world.owner)
  const tools = { keepFile: async () => '' } as never
  const config = { org: undefined, owner: undefined, preset: 'dev', seed } as const
  return buildState(await firstFacts(config, { now, tools, surroundings }))
}

function savedOf(state: State): unknown {
  const sections = Object.entries(state.save(true)).map(([name, rows]) => [name, [...rows]])
  return JSON.parse(JSON.stringify(Object.fromEntries(sections)))
}

describe('natter seed dump', () => {
  test('founds the same organization again, whatever happened in it', async () => {
    await fc.assert(
      fc.asyncProperty(histories(60), async steps => {
        const world = new World()
        const scene = furnished(world)
        for (const step of steps) {
          const [endpoint, params] = scene.acts[step.what % scene.acts.length]!(scene, step) ?? []
          if (endpoint) world.attempt(scene.people[step.who % scene.people.length]!, endpoint, params!)
          world.now += 1000
        }
        const text = await dumped(world.state)
        const again = await founded(JSON.parse(text))
        assert.deepEqual(savedOf(again), savedOf(world.state))
        assert.equal(await dumped(again), text, 'and its dump is the same text')
      }),
      { numRuns: 15 },
    )
  })

  describe('with a daemon', () => {
    const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
    const natter = (...words: string[]) =>
      inProcess(words, { env: { NATTER_SITE: daemon().url, NATTER_CONTROL_TOKEN: daemon().ready.control_token! } })

    test('is a seed for natterd, for the library and for what is added to it', async t => {
      const { owner } = daemon()
      const file = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('some bytes') }
      const { url } = await owner.call(uploads.upload, { file })
      await owner.call(messages.send, { type: 'stream', to: 'general', topic: 't', content: `[note](${url})` })
      const path = join(folder, 'world.json')
      const { code, stderr } = await natter('seed', 'dump', path)
      assert.deepEqual([code, stderr], [0, `wrote ${path}\n`])
      assert.ok(!readFileSync(path, 'utf8').includes(owner.key!))

      const seed = JSON.parse(readFileSync(path, 'utf8'))
      const more = { as: 'amy', call: 'create-saved-snippet', params: { title: 'added', content: 'by hand' } }
      writeFileSync(path, JSON.stringify({ ...seed, steps: [more] }))
      const founded = await startDaemon(t, { flags: ['--memory', '--seed', path] })
      const { messages: found } = await founded.owner.call(messages.list, {
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
      })
      assert.match(String(found[0]!.content), /note/)
      assert.equal((await founded.owner.raw('GET', url)).text, 'some bytes')

      const library = await startNatter({ seed })
      t.after(() => library.stop())
      const { resources } = await library.changed(() => {})
      assert.deepEqual(resources, {})
      assert.equal(
        (await library.as('amy').messages.list({ anchor: 'newest', num_before: 1, num_after: 0 })).messages[0]!.id,
        found[0]!.id,
      )
    })

    test('goes to stdout with -', async () => {
      const { code, stdout, stderr } = await natter('seed', 'dump', '-')
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(JSON.parse(stdout).rows.organization.length, 1)
      assert.ok(!existsSync('-'))
    })

    test('mistakes in rows are sentences', async () => {
      for (const [seed, sentence] of [
        [{ rows: [] }, /rows must be a record of lists/],
        [{ rows: { people: [{}] } }, /rows\.people is not a section of rows/],
        [{ rows: { users: [1] } }, /rows\.users\[0\] must be a record/],
        [{ rows: { users: [] } }, /rows cannot be used: users: there is no active owner/],
        [
          { rows: { channels: [{ last_id: 1 }, {}] } },
          /rows\.channels\[1\] cannot be used: channels, row 2: \w+: must be a/,
        ],
        [{ rows: { users: [] }, owner: { email: 'a@b.c' } }, /rows hold an organization with an owner already/],
      ] as const) {
        await assert.rejects(founded(seed), sentence)
      }
      const path = join(folder, 'wrong.json')
      writeFileSync(path, '{\n"rows": { "users": [] } }')
      const flags = ['--memory', '--seed', path]
      await assert.rejects(
        host(folder, { flags }),
        /wrong\.json, line 2: rows cannot be used: users: there is no active owner/,
      )
      assert.equal((await natter('seed', 'dump', join(folder, 'x.json'), 'nowhere')).code, 3)
    })
  })
})
