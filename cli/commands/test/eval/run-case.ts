// Runs one case: a space of its own, the task, the command, and what the world looks like afterwards.

import { spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { largeFile, readText } from '../../../../daemon/local/bounded-file.ts'
import { jsonOr } from '../../../../daemon/local/json.ts'
import { makeFolderInside } from '../../../../daemon/local/plain-files.ts'
import { exitCodes, Failure, usage } from '../../../base/failure.ts'
import type { Reply } from '../../../base/reply.ts'
import { call } from '../../../transport/client.ts'
import { encodeFields } from '../../../transport/connection.ts'
import { callControlPlane, findAccount } from '../../../transport/control.ts'
import { environmentFor, type Place } from '../fixture.ts'
import { type Case, seedFile } from './case-file.ts'
import {
  type Aftermath,
  type Check,
  type Difference,
  newValueOf,
  runChecks,
  type SeenMessage,
  type Thing,
} from './score.ts'

export interface Daemon {
  readonly site: string
  readonly controlToken: string
}

export interface CaseResult {
  readonly name: string
  readonly run: number
  readonly passed: boolean
  /** Part of the checks that hold. */
  readonly score: number
  readonly checks: readonly Check[]
  readonly seconds: number
  readonly calls: number
}

/** Seconds, unless the case has a budget. */
const usualTime = 300
/** Characters of a transcript. */
const longestTranscript = 1_000_000
const before = 'eval-before'

export async function runCase(
  daemon: Daemon,
  one: Case,
  command: readonly string[],
  run: number,
  keep: string | undefined,
): Promise<CaseResult> {
  const space = await createSpace(daemon, one)
  const scratch = mkdtempSync(join(tmpdir(), 'natter-eval-'))
  try {
    const inside = { site: space.url, controlToken: space.control_token! }
    const owner = one.as === undefined ? space.owner : await findAccount(inside, one.as)
    if (one.message) await sendTask(inside, one.message, one.task)
    await callControlPlane(inside, { method: 'POST', path: '/control/v1/snapshots', body: { name: before } })
    await callControlPlane(inside, { method: 'DELETE', path: '/control/v1/requests' })
    const began = performance.now()
    // With the control token an agent could read the expectations, and change anything.
    const env = {
      ...environmentFor({ url: space.url, owner, level: space.level }, scratch),
      NATTER_TASK: one.task,
      NATTER_CASE: one.name,
    }
    const seconds = one.budget?.seconds ?? usualTime
    const { exitCode, timedOut, transcript } = await runCommand(command, env, seconds)
    const took = Number(((performance.now() - began) / 1000).toFixed(1))
    const after = { ...(await readOutcome(inside, owner.email)), exitCode, timedOut, seconds: took }
    const checks = runChecks(one, after)
    const held = checks.filter(({ passed }) => passed).length
    const result = {
      name: one.name,
      run,
      passed: held === checks.length,
      score: Number((held / checks.length).toFixed(2)),
      checks,
      seconds: took,
      calls: after.calls.length,
    }
    if (keep !== undefined) keepRun(keep, result, transcript, after.difference)
    return result
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    await callControlPlane(daemon, { method: 'DELETE', path: `/control/v1/spaces/${space.name}` }).catch(() => {})
  }
}

async function createSpace(daemon: Daemon, one: Case): Promise<Place & { readonly name: string }> {
  const seed = one.seed === undefined ? undefined : readText(seedFile(one.file, one.seed), largeFile)
  const body = {
    preset: one.preset ?? (seed === undefined ? 'dev' : 'empty'),
    ...(seed !== undefined && { seed }),
    ...(one.clock !== undefined && { clock: one.clock }),
    ...(one.level !== undefined && { level: String(one.level) }),
  }
  return (await callControlPlane(daemon, { method: 'POST', path: '/control/v1/spaces', body })) as never
}

/** The task as a message, so that an agent that follows events finds it. */
async function sendTask(daemon: Daemon, { from, channel, topic = '', to }: NonNullable<Case['message']>, task: string) {
  const { email, api_key: apiKey } = await findAccount(daemon, from)
  const place =
    channel === undefined
      ? { type: 'direct', to: [(await findAccount(daemon, to!)).user_id] }
      : { type: 'stream', to: channel, topic }
  const fields = encodeFields({ ...place, content: task })
  const account = { site: daemon.site, email, apiKey, from: {} }
  await call(account, { method: 'POST', path: '/api/v1/messages', fields })
}

interface Ended {
  readonly exitCode: number
  readonly timedOut: boolean
  readonly transcript: string
}

/** What ends each command that runs: Ctrl-C at the terminal does not reach them. */
const ends = new Set<() => void>()
process.once('exit', () => {
  for (const end of ends) end()
})

/** In a process group of its own, so that processes that the command started end with it. */
function runCommand([program, ...args]: readonly string[], env: NodeJS.ProcessEnv, seconds: number): Promise<Ended> {
  return new Promise((settle, reject) => {
    const child = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let transcript = ''
    let timedOut = false
    const end = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
    ends.add(end)
    const settled = () => {
      clearTimeout(timer)
      ends.delete(end)
    }
    const timer = setTimeout(() => {
      timedOut = true
      end()
    }, seconds * 1000)
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => {
        transcript = (transcript + text).slice(-longestTranscript)
      })
    child.on('error', (error: NodeJS.ErrnoException) => {
      settled()
      reject(new Failure(exitCodes.noSuchCommand, `cannot run ${program}: ${error.code}`))
    })
    child.on('close', code => {
      settled()
      end()
      settle({ exitCode: code ?? exitCodes.refused, timedOut, transcript })
    })
  })
}

async function readOutcome(
  daemon: Daemon,
  email: string,
): Promise<Pick<Aftermath, 'messages' | 'difference' | 'calls'>> {
  const path = `/control/v1/snapshots/diff?from=${before}&limit=100000`
  const { resources } = await callControlPlane(daemon, { method: 'GET', path })
  const { requests } = await callControlPlane(daemon, { method: 'GET', path: '/control/v1/requests?limit=1000' })
  const calls = (requests as unknown as { endpoint: string | null; user: string | null }[])
    .filter(({ user }) => user === email)
    .map(({ endpoint }) => endpoint ?? 'unknown')
  const difference = resources as unknown as Difference
  const { added = [], changed = [] } = difference.messages ?? {}
  return { difference, calls, messages: [...added, ...changed].map(seenMessage) }
}

/** A message as the difference shows it: a changed one with its new fields. */
function seenMessage(thing: Thing): SeenMessage {
  const value = (name: string) => newValueOf(thing, name)
  const recipient = value('display_recipient')
  const place = Array.isArray(recipient)
    ? { direct_with: recipient.map((user: Reply) => String(user.email)) }
    : { ...(recipient !== undefined && { channel: String(recipient) }), topic: String(value('subject') ?? '') }
  const reactions = (value('reactions') ?? []) as { emoji_name: string }[]
  return {
    ...place,
    sender: String(value('sender_email') ?? ''),
    content: String(value('content') ?? ''),
    reactions: reactions.map(({ emoji_name }) => emoji_name),
  }
}

type Run = Pick<CaseResult, 'name' | 'run'>

function namePlace(folder: string, { name, run }: Run): string {
  return join(folder, `${name.replace(/[^\w.-]+/g, '-')}-${run}`)
}

/** Refuses a folder for kept runs that has files of these names, and not from an earlier run of the same case. */
export function refuseForeign(folder: string, wanted: Run): void {
  const place = namePlace(folder, wanted)
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink())
    throw usage(`--keep: ${place} is a link`, 'Choose another folder.')
  const found = ['result.json', 'transcript.txt', 'difference.json'].map(name => join(place, name)).find(existsSync)
  if (!found) return
  const { name, run } = Object(
    found.endsWith('result.json') ? jsonOr(readText(found, largeFile)) : undefined,
  ) as Partial<Run>
  if (name !== wanted.name || run !== wanted.run)
    throw usage(`--keep: ${found} is not of an earlier run of this case`, 'Choose another folder.')
}

function keepRun(folder: string, result: CaseResult, transcript: string, difference: Difference): void {
  const place = namePlace(folder, result)
  makeFolderInside(folder, place)
  const write = (name: string, text: string) => writeFileAtomicallySync(join(place, name), text)
  write('transcript.txt', transcript)
  write('difference.json', `${JSON.stringify(difference, undefined, 2)}\n`)
  write('result.json', `${JSON.stringify(result, undefined, 2)}\n`)
}
