// The members of the cluster, its leader, and the end of the log. Twice a second, each daemon reads them and reports on itself.

import { setTimeout as sleep } from 'node:timers/promises'
import { databaseFull, decodeText, type Etcd, encodeText, rangeEnd } from './etcd.ts'
import {
  AnotherHistory,
  ClusterGone,
  type ClusterRecord,
  ForeignKeys,
  type Head,
  headText,
  type Keys,
  type Leader,
  type Member,
  readHead,
  readLeader,
  readMember,
  readRecord,
} from './keys.ts'
import type { Lease } from './lease.ts'

export interface View {
  readonly head: Head
  readonly leader: Leader | undefined
  readonly members: readonly Member[]
  /** The revision of etcd that this is true of. */
  readonly revision: number
}

interface Election {
  readonly term: number
  readonly head: Head
}

/** Seconds that clocks of daemons may differ. */
const clockTolerance = 30
/** Milliseconds within which a daemon that reaches etcd reports again. */
const reportTime = 5000
/** Milliseconds that a leader waits for the next one when it stops. */
const handOverTime = 2000

export class Membership {
  readonly #etcd: Etcd
  readonly #keys: Keys
  readonly #foreign = new ForeignKeys()
  /** The cluster that this daemon belongs to, once it is known: its ID, and the value of its record in etcd. */
  #known: { readonly id: string; readonly value: string } | undefined

  constructor(etcd: Etcd, keys: Keys) {
    this.#etcd = etcd
    this.#keys = keys
  }

  /** Throws when etcd cannot be used. Writes nothing. */
  async checkEtcd(): Promise<void> {
    const { version = '' } = await this.#etcd.call('/v3/maintenance/status', {}, { deadlineMs: 4000 })
    const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
    if (!(Number(major) === 3 && Number(minor) >= 4))
      throw new Error(
        `etcd at ${this.#etcd.urls.join(', ')} has version ${version || 'unknown'}; natterd needs 3.4 or newer`,
      )
    const { alarms = [] } = await this.#etcd.call('/v3/maintenance/alarm', { action: 'GET' })
    if (Array.isArray(alarms) && alarms.some(({ alarm }: { alarm?: string }) => alarm === 'NOSPACE'))
      throw new Error(databaseFull)
  }

  /** Reads the record of the cluster and remembers it: from then on, `view` throws when there is another one in its place. */
  async record(): Promise<ClusterRecord | undefined> {
    const { kvs } = await this.#etcd.call('/v3/kv/range', { key: encodeText(this.#keys.cluster) })
    if (!kvs) return undefined
    const { value } = kvs[0]
    const record = readRecord(decodeText(value))
    if (!record)
      throw new Error(`${this.#keys.cluster} in etcd was not written by natterd; choose another --cluster-name`)
    this.#keys.use(record)
    this.#known = { id: record.id, value }
    return record
  }

  /** Begins a cluster whose log goes on after the position. Returns the record of another daemon if that was faster. */
  async create(record: ClusterRecord, position: number): Promise<ClusterRecord> {
    const { cluster, head } = this.#keys
    const value = encodeText(headText({ position, term: 0 }))
    await this.#etcd.call('/v3/kv/txn', {
      compare: [{ target: 'CREATE', key: encodeText(cluster), create_revision: 0 }],
      success: [
        { request_put: { key: encodeText(cluster), value: encodeText(JSON.stringify(record)) } },
        { request_put: { key: encodeText(head), value } },
      ],
    })
    return (await this.record())!
  }

  /** Throws when etcd no longer holds the cluster, or holds another one of the same name. */
  async view(): Promise<View> {
    const { cluster, head, leader, members } = this.#keys
    const answer = await this.#etcd.call(
      '/v3/kv/txn',
      {
        success: [
          { request_range: { key: encodeText(head) } },
          { request_range: { key: encodeText(leader) } },
          { request_range: { key: encodeText(members), range_end: encodeText(rangeEnd(members)) } },
          { request_range: { key: encodeText(cluster) } },
        ],
      },
      { deadlineMs: 3000 },
    )
    const [heads, leaders, all, records] = readRanges(answer)
    if (records?.[0]) this.#checkRecord(records[0].value)
    if (!heads?.[0] || !records?.[0]) throw new ClusterGone(this.#keys.namePrefix)
    return {
      head: readHead(decodeText(heads[0].value)),
      leader: leaders?.[0] && readLeader(decodeText(leaders[0].value)),
      members: this.#readMembers(all ?? []),
      revision: Number(answer.header.revision),
    }
  }

  /**
   * The same for the member that has written its key. Throws when another daemon has written that key since: it uses a copy of the
   * folder, and began at the same moment or while this one had no lease. The last one that writes goes on.
   */
  async viewAs(self: Leader): Promise<View> {
    const view = await this.view()
    const own = view.members.find(({ id }) => id === self.id)
    if (own && !isSameAddress(own, self)) throw refuseCopy(own)
    return view
  }

  /** Leaves out members that natterd did not write. A member repairs its own key, which it writes again every few seconds. */
  #readMembers(pairs: readonly KeyValue[]): Member[] {
    return pairs.flatMap(({ key, value }) => {
      const name = decodeText(key)
      const member = readMember(decodeText(value))
      if (member && name === `${this.#keys.members}${member.id}`) return member
      this.#foreign.report(name)
      return []
    })
  }

  /** Throws when etcd holds another cluster than that of this daemon. */
  #checkRecord(value: string | undefined): void {
    if (!this.#known || value === this.#known.value) return
    const { previous } = readRecord(decodeText(value)) ?? {}
    if (previous?.includes(this.#known.id))
      throw new AnotherHistory(
        'the cluster was restored from a backup, and this daemon has what it was before',
        'Start it again: it joins the new one',
      )
    throw new AnotherHistory(`etcd holds another cluster under ${this.#keys.namePrefix} than this daemon belongs to`)
  }

  /** Writes the key of this member: how far it is, and what it is compared by. */
  async report(member: Member, lease: Lease): Promise<void> {
    const key = encodeText(`${this.#keys.members}${member.id}`)
    const put = { key, value: encodeText(JSON.stringify(member)), lease: lease.id }
    await this.#etcd.call('/v3/kv/put', put, { deadlineMs: 2000 })
  }

  /** Makes this daemon the leader if there is none. */
  async campaign(leader: Leader, lease: Lease): Promise<Election | undefined> {
    const key = encodeText(this.#keys.leader)
    const value = encodeText(JSON.stringify(leader))
    const head = { request_range: { key: encodeText(this.#keys.head) } }
    const answer = await this.#etcd.call('/v3/kv/txn', {
      compare: [
        { target: 'CREATE', key, create_revision: 0 },
        { target: 'VALUE', key: encodeText(this.#keys.cluster), value: this.#known?.value },
      ],
      success: [{ request_put: { key, value, lease: lease.id } }, head],
      failure: [{ request_range: { key } }, head],
    })
    const [first, second] = readRanges(answer)
    if (!second?.[0]) throw new ClusterGone(this.#keys.namePrefix)
    const found = readHead(decodeText(second[0].value))
    if (answer.succeeded) return { term: Number(answer.header.revision), head: found }
    // An attempt that was not answered may have been carried out: then the key is ours.
    const now = first?.[0]
    return now?.lease === lease.id ? { term: Number(now.create_revision), head: found } : undefined
  }

  /** Lets etcd delete the values that were overwritten before the revision. */
  async compact(revision: number): Promise<void> {
    await this.#etcd.call('/v3/kv/compaction', { revision }).catch(() => {})
  }

  /** Bytes of etcd's database at the member that answers, and how many of them hold something. */
  async databaseSize(): Promise<{ readonly size: number; readonly used: number }> {
    const { dbSize = 0, dbSizeInUse = 0 } = await this.#etcd.call('/v3/maintenance/status', {}, { deadlineMs: 2000 })
    return { size: Number(dbSize), used: Number(dbSizeInUse) }
  }
}

/** The address of a member; undefined if there is none with this ID. */
export function addressIn({ members }: View, member: string): string | undefined {
  return members.find(({ id }) => id === member)?.peer
}

interface KeyValue {
  readonly key?: string
  readonly value?: string
  readonly lease?: string
  readonly create_revision?: string
}

/** What each part of a transaction has read. */
function readRanges({ responses = [] }: { responses?: { response_range?: { kvs?: KeyValue[] } }[] }): KeyValue[][] {
  return responses.map(part => part.response_range?.kvs ?? [])
}

/**
 * Throws when this daemon must not join the present members. Clocks are compared with reports that are written meanwhile: one that was
 * there before may be old, because its daemon could not report.
 */
export async function checkOthers(
  membership: Membership,
  self: { readonly id: string; readonly peer: string },
): Promise<void> {
  const before = new Map<string, number>()
  const sameAddress = new Map<string, number>()
  const end = performance.now() + reportTime
  for (;;) {
    const { members } = await membership.view()
    for (const { id, url, peer, version, time } of members) {
      if (id === self.id) continue
      if (peer === undefined)
        throw new Error(
          `the daemon at ${url} has version ${version}, which cannot work with this one: it has no address for other daemons. ` +
            'Stop all daemons of the cluster, upgrade them, and start them again (see "Upgrades" in docs/cluster.md)',
        )
      // The report of a daemon that ran here before is not renewed.
      if (peer === self.peer && time !== (sameAddress.get(id) ?? time))
        throw new Error(
          `the daemon at ${url} has the same address for the other daemons, ${peer}. Correct --cluster-advertise of the one that it is not`,
        )
      if (peer === self.peer) sameAddress.set(id, time)
      const apart = Math.round((Date.now() - time) / 1000)
      if (Math.abs(apart) <= clockTolerance) before.delete(id)
      else if ((before.get(id) ?? time) === time) before.set(id, time)
      else
        throw new Error(
          `the clock of this machine is ${Math.abs(apart)} seconds ${apart > 0 ? 'ahead of' : 'behind'} that of ${url}. ` +
            'Set both right, with NTP for instance, and start again',
        )
    }
    for (const id of sameAddress.keys()) if (!members.some(member => member.id === id)) sameAddress.delete(id)
    if ((before.size === 0 && sameAddress.size === 0) || performance.now() > end) return
    await sleep(300)
  }
}

/**
 * Waits until the record of an earlier run of this daemon has expired in etcd. Throws when it is still being renewed: then
 * another daemon uses a copy of the folder. Two daemons can have the same name, but not the same address for the others.
 */
export async function waitForOwnExpiry(membership: Membership, self: Leader): Promise<void> {
  let first: number | undefined
  for (;;) {
    const { members } = await membership.view()
    const own = members.find(({ id }) => id === self.id)
    if (!own || isSameAddress(own, self)) return
    first ??= own.time
    if (own.time !== first) throw refuseCopy(own)
    await sleep(300)
  }
}

function isSameAddress(a: Leader, b: Leader): boolean {
  return a.url === b.url && a.peer === b.peer
}

function refuseCopy({ url, peer }: Leader): AnotherHistory {
  return new AnotherHistory(
    `the daemon at ${peer ?? url} uses a copy of this folder`,
    'Every daemon of a cluster needs a folder of its own: choose another one with --data; it is filled from the other daemons',
  )
}

/** Waits until another daemon leads and the others, which look every `lookEvery` milliseconds, know it. Gives up after a while. */
export async function waitForNextLeader(membership: Membership, self: string, lookEvery: number): Promise<void> {
  const end = performance.now() + handOverTime
  while (performance.now() < end) {
    const leader = (await membership.view().catch(() => undefined))?.leader
    if (leader && leader.id !== self) return void (await sleep(lookEvery))
    await sleep(50)
  }
}
