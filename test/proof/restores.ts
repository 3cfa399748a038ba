// Backups beside uploads, deletions and snapshots, with idempotency keys in the traffic: every store and every backup is good, a
// restored daemon has all that was answered before the backup, and a client hears everything or reports the gap. Damaged backups:
// `restore --check` finds one good exactly if `restore` takes it and a daemon starts on it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitCodes } from '../../cli/base/failure.ts'
import { createClient } from '../../daemon/client/index.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { checkBackup, checkStore, openBackup, restoreBackup } from '../../daemon/maintenance/index.ts'
import { runHere } from '../support/cli-in-process.ts'
import { type Caller, host, launch, type TestDaemon } from '../support/daemon.ts'
import { endProcess } from '../support/end-process.ts'
import { freePort } from '../support/free-port.ts'
import { contentsFrom, sendInsistently } from '../support/insistent.ts'
import { bareEnv } from '../support/natter-bundle.ts'
import { until } from '../support/until.ts'
import { readUploads, uploadText, withUploadTraffic } from '../support/upload-traffic.ts'
import { blaming, type Campaign, dice, type Result, type RunOptions } from './campaign.ts'
import { damages } from './restores/damage.ts'

/** Messages before each backup. */
const perRound = 10
/** Damaged backups in each round: all kinds in ten. */
const damagedPerRound = Math.ceil(damages.length / 10)

export const campaign: Campaign = {
  about:
    'backups under uploads, deletions, snapshots and idempotency keys: store and backup are good, a restore has what was answered, clients report gaps, damage is refused',
  unit: 'rounds',
  long: 200,
  short: 2,
  run: options => blaming(options.seed, options.count, run(options)),
}

async function run(options: RunOptions): Promise<Result> {
  const { count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} } = options
  const folder = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  const rounds = new Rounds(folder, dice(seed), ['--port', String(await freePort())])
  let done = 0
  try {
    await rounds.begin()
    for (; done < count && performance.now() < deadline; done++) {
      await rounds.once(done)
      progress(done + 1)
      note(
        `${done + 1} rounds, ${rounds.uploads} uploads read, ${rounds.gaps} gaps told, ${rounds.refused} of ${rounds.damaged} damaged backups refused`,
      )
    }
  } finally {
    await rounds.end()
    rmSync(folder, { recursive: true, force: true })
  }
  const { uploads, gaps, damaged, refused } = rounds
  const kinds = Math.min(damaged, damages.length)
  return {
    done,
    summary:
      `${done} backups restored, ${uploads} uploads read from them, ${gaps} gaps told to a client; ` +
      `${damaged} backups damaged in ${kinds} ways, ${refused} refused and the others restored`,
  }
}

class Rounds {
  uploads = 0
  gaps = 0
  damaged = 0
  refused = 0
  readonly #folder: string
  readonly #data: string
  readonly #random: () => number
  readonly #firstDamage: number
  readonly #flags: readonly string[]
  readonly #stopping = new AbortController()
  readonly #heard: string[] = []
  #following: Promise<void> = Promise.resolve()
  #daemon!: TestDaemon
  /** Of another store. */
  #other: Buffer = Buffer.alloc(0)

  constructor(folder: string, random: () => number, flags: readonly string[]) {
    this.#folder = folder
    this.#data = join(folder, 'store')
    this.#random = random
    this.#firstDamage = Math.floor(random() * damages.length)
    this.#flags = flags
  }

  async begin(): Promise<void> {
    this.#other = await this.#backUpAnother()
    this.#daemon = await launch(this.#data, { flags: this.#flags })
    const { owner } = this.#daemon
    for (let i = 0; i < 25; i++) await uploadText(owner, `before the first round, ${i}`)
    const { url, email, key } = owner
    const client = createClient({ site: url, email: email!, apiKey: key! })
    await new Promise<void>(resolve => {
      const options = {
        types: ['message'] as ['message'],
        gaps: true,
        signal: this.#stopping.signal,
        onReady: resolve,
      } as const
      this.#following = (async () => {
        for await (const event of client.events(options))
          if (event.type === 'gap') this.gaps++
          else this.#heard.push(event.message.content)
      })()
    })
  }

  async end(): Promise<void> {
    this.#stopping.abort()
    await this.#following
    await endProcess(this.#daemon.process)
  }

  async once(round: number): Promise<void> {
    const { owner } = this.#daemon
    const sent = new Map<string, string>()
    for (let i = 0; i < perRound; i++) {
      const key = randomUUID()
      sent.set(key, `${round}-${i}`)
      const id = await sendInsistently(owner, owner.id, `${round}-${i}`, key)
      if (this.#random() < 0.3) assert.equal(await sendInsistently(owner, owner.id, `${round}-${i}`, key), id)
    }
    const file = join(this.#folder, 'backup.tar')
    rmSync(file, { force: true })
    await withUploadTraffic(this.#daemon, async () => {
      await backupToFile(file, { folder: this.#data, withoutSecret: false, now: new Date() })
    })
    assert.deepEqual((await checkStore(this.#data)).problems, [])
    assert.deepEqual((await checkBackup(openBackup(file))).missing, [])
    await this.#tryRestored(file, sent)
    for (let i = 0; i < damagedPerRound; i++) await this.#tryDamaged(readFileSync(file), sent)
    await this.#until(`${round}-${perRound - 1}`)
    if (round % 2 === 1) await this.#goBack(file, round)
    else if (this.#random() < 0.5) await this.#crash()
  }

  /** A daemon on the backup has every message once, takes a key for what it was, and serves every upload. */
  async #tryRestored(file: string, sent: ReadonlyMap<string, string>): Promise<void> {
    const data = join(this.#folder, 'restored')
    rmSync(data, { recursive: true, force: true })
    await restoreBackup(openBackup(file), { folder: data, replace: false, now: new Date() })
    await this.#checkRestored(data, sent)
  }

  async #checkRestored(data: string, sent: ReadonlyMap<string, string>): Promise<void> {
    assert.deepEqual((await checkStore(data)).problems, [])
    const daemon = await host(data)
    try {
      await this.#checkMessages(daemon.owner, sent)
      const [[key, content] = ['', '']] = sent
      await sendInsistently(daemon.owner, daemon.owner.id, content, key)
      await this.#checkMessages(daemon.owner, sent)
      this.uploads += await readUploads(daemon.owner)
    } finally {
      await daemon.end()
    }
  }

  async #backUpAnother(): Promise<Buffer> {
    const data = join(this.#folder, 'other')
    const file = join(this.#folder, 'other.tar')
    const daemon = await host(data)
    await daemon.compact()
    await daemon.end()
    await backupToFile(file, { folder: data, withoutSecret: false, now: new Date() })
    return readFileSync(file)
  }

  async #tryDamaged(backup: Buffer, sent: ReadonlyMap<string, string>): Promise<void> {
    const { kind, isForged, make } = damages[(this.#firstDamage + this.damaged++) % damages.length]!
    const file = join(this.#folder, 'damaged.tar')
    const data = join(this.#folder, 'from-damaged')
    writeFileSync(file, await make(backup, this.#other, this.#random))
    rmSync(data, { recursive: true, force: true })
    try {
      const isGood = await this.#natter('restore', file, '--check')
      assert.equal(await this.#natter('restore', file, '--data', data), isGood, 'restore and restore --check differ')
      if (!isGood) this.refused++
      else if (!isForged) await this.#checkRestored(data, sent)
      else await (await host(data)).discard()
    } catch (error) {
      throw new Error(`backup with damage: ${kind}`, { cause: error })
    }
  }

  /** Whether it works; otherwise it must be refused with a sentence. */
  async #natter(...args: string[]): Promise<boolean> {
    const { code, stdout, stderr } = await runHere(args, { env: { ...bareEnv, HOME: this.#folder }, cwd: this.#folder })
    assert.doesNotMatch(stdout + stderr, /^ +at .*:\d+:\d+|NATTER_DEBUG/m)
    assert.ok(code === 0 || code === exitCodes.refused, `exit code ${code}: ${stderr}`)
    return code === 0
  }

  async #checkMessages(owner: Caller, sent: ReadonlyMap<string, string>): Promise<void> {
    const found = await contentsFrom(owner, owner.id, 2 * perRound)
    for (const content of sent.values())
      assert.equal(found.filter(text => text === content).length, 1, `${content} in ${found.join(', ')}`)
  }

  /** The backup takes the place of what came after it, while a client is connected. */
  async #goBack(file: string, round: number): Promise<void> {
    const { owner } = this.#daemon
    for (let i = 0; i < 3; i++) await sendInsistently(owner, owner.id, `lost in ${round}, ${i}`)
    await this.#until(`lost in ${round}, 2`)
    const gaps = this.gaps
    this.#daemon.process.kill('SIGTERM')
    assert.equal(await this.#daemon.closed, 0, this.#daemon.stderr)
    const { replaced } = await restoreBackup(openBackup(file), { folder: this.#data, replace: true, now: new Date() })
    rmSync(replaced!, { recursive: true, force: true })
    this.#daemon = await launch(this.#data, { flags: this.#flags })
    await until(() => this.gaps === gaps + 1)
    await sendInsistently(owner, owner.id, `after the restore of ${round}`)
    await this.#until(`after the restore of ${round}`)
  }

  async #crash(): Promise<void> {
    await this.#daemon.kill()
    this.#daemon = await launch(this.#data, { flags: this.#flags })
  }

  async #until(content: string): Promise<void> {
    await until(() => this.#heard.includes(content))
  }
}
