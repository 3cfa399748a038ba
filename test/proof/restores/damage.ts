// Ways to damage a backup. Some change its bytes, which its checksums show; some change what is in it and its checksums too, as a tool
// or an attacker would.

import { createHash } from 'node:crypto'
import { crc32, gzipSync } from 'node:zlib'
import { packTar, type TarEntry, unpackTar } from 'modern-tar'
import { headName, type Manifest, manifestName, manifestText } from '../../../daemon/maintenance/backup-format.ts'

interface Part {
  readonly name: string
  readonly content: Buffer
  readonly type?: 'symlink' | 'link' | 'directory'
}

interface Damage {
  readonly kind: string
  /** Whether its checksums were changed too: they fit what is in it, and that is not what was backed up. */
  readonly isForged: boolean
  make(backup: Buffer, other: Buffer, random: () => number): Promise<Buffer>
}

type Random = () => number

const block = 512
const upTo = (random: Random, end: number) => Math.floor(random() * end)
const pick = <T>(random: Random, list: readonly T[]) => list[upTo(random, list.length)]!
const cut = (bytes: Buffer, start: number, end: number) => bytes.subarray(start, Math.max(start, end))
const blockIn = (bytes: Buffer, random: Random) => block * upTo(random, bytes.length / block)

// --- bytes ------------------------------------------------------------------------------------------------------

const ofBytes: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  nothing: bytes => bytes,
  'a bit': (bytes, random) => withByte(bytes, upTo(random, bytes.length), byte => byte ^ (1 << upTo(random, 8))),
  'a byte': (bytes, random) => withByte(bytes, upTo(random, bytes.length), () => upTo(random, 256)),
  'a byte of a header': (bytes, random) => withByte(bytes, upTo(random, block), () => upTo(random, 256)),
  'a byte more': (bytes, random) => {
    const at = upTo(random, bytes.length)
    return Buffer.concat([cut(bytes, 0, at), Buffer.from('x'), bytes.subarray(at)])
  },
  'a byte less': (bytes, random) => {
    const at = upTo(random, bytes.length)
    return Buffer.concat([cut(bytes, 0, at), bytes.subarray(at + 1)])
  },
  'cut anywhere': (bytes, random) => cut(bytes, 0, upTo(random, bytes.length)),
  'cut after a block': (bytes, random) => cut(bytes, 0, blockIn(bytes, random)),
  'without its end': bytes => cut(bytes, 0, bytes.length - 2 * block),
  'without its beginning': (bytes, random) => bytes.subarray(blockIn(bytes, random)),
  'zeros after it': bytes => Buffer.concat([bytes, Buffer.alloc(20 * block)]),
  'rubbish after it': (bytes, random) =>
    Buffer.concat([bytes, Buffer.from(Array.from({ length: 2 * block }, () => upTo(random, 256)))]),
  'a block twice': (bytes, random) => {
    const at = blockIn(bytes, random)
    return Buffer.concat([cut(bytes, 0, at + block), bytes.subarray(at)])
  },
  'a block missing': (bytes, random) => {
    const at = blockIn(bytes, random)
    return Buffer.concat([cut(bytes, 0, at), bytes.subarray(at + block)])
  },
  'a block of zeros': (bytes, random) => {
    const at = blockIn(bytes, random)
    return Buffer.from(bytes).fill(0, at, at + block)
  },
  'two blocks exchanged': (bytes, random) => {
    const [one, two] = [blockIn(bytes, random), blockIn(bytes, random)]
    const made = Buffer.from(bytes)
    bytes.copy(made, one, two, two + block)
    bytes.copy(made, two, one, one + block)
    return made
  },
  'all of it twice': bytes => Buffer.concat([bytes, bytes]),
  compressed: bytes => gzipSync(bytes),
  empty: () => Buffer.alloc(0),
}

function withByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  const made = Buffer.from(bytes)
  made[at] = change(made[at]!)
  return made
}

// --- parts, with the checksums as they were ---------------------------------------------------------------------

const isBody = ({ name }: Part) => name !== headName && name !== manifestName
const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const stray = Buffer.from('not of this store')

const ofParts: Readonly<Record<string, (parts: readonly Part[], random: Random) => readonly Part[]>> = {
  'a part missing': (parts, random) => without(parts, pick(random, parts)),
  'a part twice': (parts, random) => [...parts, pick(random, parts)],
  'an empty part': (parts, random) => changed(parts, pick(random, parts).name, () => Buffer.alloc(0)),
  'a part that is not listed': parts => [...parts, { name: `files/${digest(stray)}`, content: stray }],
  'parts in another order': parts => [parts[0]!, ...parts.slice(1, -1).reverse(), parts.at(-1)!],
  'contents exchanged': (parts, random) => {
    const [one, two] = [pick(random, parts), pick(random, parts)]
    return changed(
      changed(parts, one.name, () => two.content),
      two.name,
      () => one.content,
    )
  },
  'a symbolic link': (parts, random) => linked(parts, random, 'symlink'),
  'a hard link': (parts, random) => linked(parts, random, 'link'),
  'a folder': parts => [...parts, { name: 'files/', content: Buffer.alloc(0), type: 'directory' }],
  'a path that leads out': parts => [...parts, { name: '../stray', content: stray }],
  'an absolute path': parts => [...parts, { name: '/tmp/natter-stray', content: stray }],
  'a newer format': parts => changed(parts, headName, content => replaced(content, /"format":\d+/, '"format":999')),
  'a head of another type': parts => changed(parts, headName, () => Buffer.from('[]')),
  'a wrong sum': parts => changed(parts, manifestName, content => replaced(content, /"sum":\d/, '"sum":9')),
}

function linked(parts: readonly Part[], random: Random, type: 'symlink' | 'link'): Part[] {
  const { name } = pick(random, parts.filter(isBody))
  return parts.map(part => (part.name === name ? { name, type, content: Buffer.alloc(0) } : part))
}

function without(parts: readonly Part[], gone: Part | undefined): Part[] {
  return parts.filter(part => part !== gone)
}

function changed(parts: readonly Part[], name: string | undefined, change: (content: Buffer) => Buffer): Part[] {
  return parts.map(part => (part.name === name ? { ...part, content: change(part.content) } : part))
}

function replaced(content: Buffer, pattern: RegExp, text: string): Buffer {
  return Buffer.from(content.toString().replace(pattern, text))
}

// --- parts, with new checksums ----------------------------------------------------------------------------------

type Forge = (parts: readonly Part[], random: Random, others: readonly Part[]) => readonly Part[]

const journal = 'journal.ndjson'
const odd = [null, -1, 1e300, '', 'x', true, [], {}, [[]]]

const forged: Readonly<Record<string, Forge>> = {
  'a bit of the snapshot': (parts, random) => flipped(parts, 'state.json', random),
  'a bit of the journal': (parts, random) => flipped(parts, journal, random),
  'no snapshot': parts => without(parts, named(parts, 'state.json')),
  'no journal': parts => without(parts, named(parts, journal)),
  'no list of its files': parts => without(parts, named(parts, manifestName)),
  'an upload missing': (parts, random) => without(parts, pick(random, uploadsIn(parts))),
  'another upload': parts => [...parts, { name: `files/${digest(stray)}`, content: stray }],
  'an upload with another content': (parts, random) => changed(parts, pick(random, uploadsIn(parts)).name, () => stray),
  'the journal cut': (parts, random) =>
    changed(parts, journal, content => cut(content, 0, upTo(random, content.length))),
  'lines of the journal exchanged': (parts, random) =>
    withLines(parts, lines => {
      const [one, two] = [upTo(random, lines.length), upTo(random, lines.length)]
      return lines.map((line, at) => (at === one ? lines[two]! : at === two ? lines[one]! : line))
    }),
  'a line of the journal twice': (parts, random) =>
    withLines(parts, lines => lines.toSpliced(upTo(random, lines.length), 0, pick(random, lines))),
  'a line of the journal missing': (parts, random) =>
    withLines(parts, lines => lines.toSpliced(upTo(random, lines.length), 1)),
  'an entry with another position': (parts, random) => withEntry(parts, random, entry => ({ ...entry, position: 1e9 })),
  'an entry without facts': (parts, random) => withEntry(parts, random, entry => ({ ...entry, facts: null })),
  'a fact of another type': (parts, random) =>
    withEntry(parts, random, entry => ({
      ...entry,
      facts: [{ type: pick(random, ['none.such', '__proto__', 1, null]) }],
    })),
  'a fact with an odd value': (parts, random) =>
    withEntry(parts, random, entry => ({
      ...entry,
      facts: (entry.facts as object[]).map(fact => oddValue(fact, random)),
    })),
  'a row with an odd value': (parts, random) => withRows(parts, random, row => [oddValue(row, random)]),
  'a row without a value': (parts, random) =>
    withRows(parts, random, row => [Object.fromEntries(Object.entries(row).slice(1))]),
  'a row twice': (parts, random) => withRows(parts, random, row => [row, row]),
  'a row of another type': (parts, random) => withRows(parts, random, () => [pick(random, odd)]),
  'the secret of another store': (parts, _random, others) =>
    changed(parts, 'secret', () => contentOf(others, 'secret')),
  'the journal of another store': (parts, _random, others) => changed(parts, journal, () => contentOf(others, journal)),
  'the snapshot of another store': (parts, _random, others) =>
    changed(parts, 'state.json', () => contentOf(others, 'state.json')),
}

function named(parts: readonly Part[], wanted: string): Part | undefined {
  return parts.find(({ name }) => name === wanted)
}

function contentOf(parts: readonly Part[], name: string): Buffer {
  return named(parts, name)?.content ?? Buffer.alloc(0)
}

function uploadsIn(parts: readonly Part[]): Part[] {
  return parts.filter(({ name }) => name.startsWith('files/'))
}

function flipped(parts: readonly Part[], name: string, random: Random): Part[] {
  return changed(parts, name, content => ofBytes['a bit']!(content, random))
}

/** Of the journal, without its header. */
function withLines(parts: readonly Part[], change: (lines: string[]) => string[]): Part[] {
  return changed(parts, journal, content => {
    const [header = '', ...lines] = content.toString().trimEnd().split('\n')
    return Buffer.from(lines.length === 0 ? `${header}\n` : `${[header, ...change(lines)].join('\n')}\n`)
  })
}

function withEntry(parts: readonly Part[], random: Random, change: (entry: Record<string, unknown>) => object): Part[] {
  return withLines(parts, lines => {
    const at = upTo(random, lines.length)
    const { sum: _sum, ...entry } = JSON.parse(lines[at]!)
    const body = JSON.stringify(change(entry)).slice(0, -1)
    return lines.with(at, `${body},"sum":"${crc32(body).toString(16).padStart(8, '0')}"}`)
  })
}

/** One row of the snapshot, which says that it was edited. */
function withRows(parts: readonly Part[], random: Random, change: (row: object) => readonly unknown[]): Part[] {
  return changed(parts, 'state.json', content => {
    const state = JSON.parse(content.toString()) as { sections: Record<string, object[]>; sums: unknown }
    const filled = Object.values(state.sections).filter(rows => rows.length > 0)
    const rows = pick(random, filled) as unknown[]
    const at = upTo(random, rows.length)
    rows.splice(at, 1, ...change(Object(rows[at])))
    state.sums = 'edited'
    return Buffer.from(JSON.stringify(state))
  })
}

function oddValue(row: object, random: Random): object {
  return { ...row, [pick(random, Object.keys(row))]: pick(random, odd) }
}

// --- all of them ------------------------------------------------------------------------------------------------

export const damages: readonly Damage[] = [
  ...Object.entries(ofBytes).map(([kind, change]) => ({
    kind,
    isForged: false,
    make: async (backup: Buffer, _other: Buffer, random: Random) => change(backup, random),
  })),
  ...Object.entries(ofParts).map(([kind, change]) => ({
    kind,
    isForged: false,
    make: async (backup: Buffer, _other: Buffer, random: Random) => pack(change(await partsOf(backup), random)),
  })),
  ...Object.entries(forged).map(([kind, forge]) => ({
    kind: `forged: ${kind}`,
    isForged: true,
    make: async (backup: Buffer, other: Buffer, random: Random) =>
      pack(resummed(forge(await partsOf(backup), random, await partsOf(other)))),
  })),
]

async function partsOf(backup: Buffer): Promise<Part[]> {
  return (await unpackTar(backup)).map(({ header, data }) => ({ name: header.name, content: Buffer.from(data ?? []) }))
}

function pack(parts: readonly Part[]): Promise<Buffer> {
  const entries = parts.map(({ name, content, type }): TarEntry => {
    if (type === undefined) return { header: { name, size: content.length }, body: content }
    return { header: { name, size: 0, type, ...(type !== 'directory' && { linkname: '/etc/hostname' }) } }
  })
  return packTar(entries).then(bytes => Buffer.from(bytes))
}

function resummed(parts: readonly Part[]): Part[] {
  return changed(parts, manifestName, content => {
    const manifest = JSON.parse(content.toString().split('\n')[0]!) as Manifest
    const files = parts.filter(isBody).map(part => ({
      name: part.name,
      bytes: part.content.length,
      sum: crc32(part.content),
    }))
    return Buffer.from(manifestText({ ...manifest, files }))
  })
}
