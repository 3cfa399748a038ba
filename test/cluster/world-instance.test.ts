// The files of a daemon of a cluster while it runs. The world is a stand-in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type WorldInstance, WorldInstances } from '../../daemon/cluster/world-instance.ts'
import { State } from '../../daemon/domain/model/state.ts'
import { memoryFiles } from '../../daemon/io/files.ts'
import { until } from '../support/until.ts'

test('a file that the leader deleted while it could not reach this daemon is deleted at a later look', async () => {
  const looks: string[][] = []
  const localFiles = memoryFiles()
  const engine = { state: new State(), dropFiles: (names: string[]) => looks.push(names) }
  const instance = { world: { engine, open() {} }, store: { localFiles }, caughtUp: true, named: new Set() }
  let current: object | undefined = instance
  const parts = { config: {}, server: {}, others: () => [], current: () => current }
  new WorldInstances(parts as never, 500).open(instance as unknown as WorldInstance)
  await until(() => looks.length === 1)
  const name = await localFiles.keep(Buffer.from('deleted elsewhere'))
  await until(() => looks.length === 2)
  current = undefined
  assert.deepEqual(looks, [[], [name]])
})
