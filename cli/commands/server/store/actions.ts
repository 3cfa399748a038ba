// Runs backup, restore, store check and store stats. The work is in `daemon/maintenance`, in bundles of their own.

import { resolve } from 'node:path'
import { Ending, exitCodes, Failure, usage } from '../../../base/failure.ts'
import { refuseExisting } from '../../../base/files.ts'
import { note } from '../../../base/note.ts'
import { onSignals } from '../../../base/signals.ts'
import type { Invocation } from '../../../base/subcommand.ts'
import { countText } from '../../../base/text-layout.ts'
import { print, printBytes } from '../../../base/writer.ts'
import { printFormatted } from '../../../print/output.ts'
import { folderIn } from '../daemon/files.ts'

export async function makeBackup({ args, flags, globals }: Invocation): Promise<void> {
  const file = args[0]!
  const options = {
    folder: folderIn(flags),
    withoutSecret: flags['without-secret'] === true,
    incomplete: flags.incomplete === true,
    now: new Date(),
  }
  if (file === '-' && process.stdout.isTTY)
    throw new Failure(exitCodes.usage, 'a backup is not written to a terminal', {
      hint: 'Name a file, or redirect stdout.',
    })
  if (file !== '-' && !globals.yes && !flags.force) refuseExisting(file)
  const made = await endingOnSignals(async () => {
    const { backupToFile, backupToStream, giveWay } = await import('../../../../daemon/maintenance/backup.ts')
    giveWay()
    return file === '-' ? backupToStream(printBytes, options) : backupToFile(resolve(file), options)
  })
  if (file !== '-' && (await printFormatted({ file: resolve(file), ...made }, globals))) return
  const target = file === '-' ? '' : ` to ${file}`
  note(`backed up ${countText(made.files, 'file')}, ${sizeText(made.bytes)}, up to position ${made.position}${target}`)
  for (const text of made.notes) note(`note: ${text}`)
  if (made.secret) note('it has the secret that all API keys are derived from: keep it as safe as the store')
}

export async function restoreFrom({ args, flags, globals }: Invocation): Promise<void> {
  const file = args[0]!
  const folder = folderIn(flags)
  const options = { folder, replace: flags.replace === true, incomplete: flags.incomplete === true, now: new Date() }
  const restored = await endingOnSignals(async () => {
    const { checkBackup, openBackup, restoreBackup } = await maintenance()
    const source = file === '-' ? process.stdin : openGiven(() => openBackup(resolve(file)), file)
    return flags.check ? checkBackup(source) : restoreBackup(source, options)
  })
  const { files, bytes, position, made, version, notes, missing, replaced } = restored
  if (!(await printFormatted({ ...(flags.check ? {} : { folder }), ...restored }, globals))) {
    const verdict = missing.length > 0 ? 'is not complete' : 'is good'
    const size = `${countText(files, 'file')}, ${sizeText(bytes)}, position ${position}`
    note(`the backup of ${made}, by natter ${version}, ${verdict}: ${size}`)
    for (const text of missing) print(`${text}\n`)
    for (const text of notes) note(`note: ${text}`)
    if (replaced) note(`the store that was there is now in ${replaced}`)
    if (!flags.check) {
      note(`restored to ${folder}; start the daemon with: natter daemon start --data ${folder}`)
      note('all event queues have ended: clients register again, and those that heard later events report a gap')
    }
  }
  // A restore of it was asked for with --incomplete.
  if (flags.check && missing.length > 0) throw new Ending(exitCodes.refused)
}

export async function check({ flags, globals }: Invocation): Promise<void> {
  const report = await inSentences(async () => (await maintenance()).checkStore(folderIn(flags)))
  const { files, bytes, position, problems, notes } = report
  if (!(await printFormatted({ ok: problems.length === 0, ...report }, globals))) {
    for (const { message } of problems) print(`${message}\n`)
    for (const text of notes) note(`note: ${text}`)
    const stop = report.stopped_cleanly ? 'stopped cleanly' : 'in use, or not stopped cleanly'
    if (problems.length === 0)
      print(`ok: ${countText(files, 'file')}, ${sizeText(bytes)}, journal up to position ${position}, ${stop}\n`)
  }
  if (problems.length === 0) return
  note(`found ${countText(problems.length, 'problem')}; restore a backup with \`natter restore\``)
  throw new Ending(exitCodes.refused)
}

export async function showStats({ flags, globals }: Invocation): Promise<void> {
  const stats = await inSentences(async () => (await maintenance()).readStats(folderIn(flags)))
  if (await printFormatted(stats, globals)) return
  const { bytes, snapshot } = stats
  const lines = [
    ['users', `${stats.users}, and ${countText(stats.bots, 'bot')}`],
    ['channels', stats.channels],
    ['messages', stats.messages],
    ['uploads', stats.uploads],
    ['files', `${stats.files}, ${sizeText(bytes.uploads)}: uploads, avatars, emoji and exports`],
    ['event queues', stats.queues],
    [
      'snapshot',
      snapshot ? `${snapshot.made}, position ${snapshot.position}, ${sizeText(bytes.snapshot)}` : 'none yet',
    ],
    ['message files', sizeText(bytes.messages)],
    ['journal', `${stats.journal_entries} entries since, ${sizeText(bytes.journal)}, position ${stats.position}`],
    ['mail waiting', sizeText(bytes.outbox)],
    ['total', sizeText(bytes.total)],
  ] as const
  const width = Math.max(...lines.map(([name]) => name.length))
  print(lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join(''))
}

/** A process that exits removes the copy of the store that it has begun; one that a signal ends does not. */
async function endingOnSignals<T>(work: () => Promise<T>): Promise<T> {
  const undo = onSignals(code => process.exit(code))
  try {
    return await inSentences(work)
  } finally {
    undo()
  }
}

/** A file that the user names and that cannot be read is wrong usage. */
function openGiven<T>(open: () => T, file: string): T {
  try {
    return open()
  } catch (error) {
    throw usage(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const maintenance = () => import('../../../../daemon/maintenance/index.ts')

/** Reports errors of the store and of the file system as failures of the command, not as defects. */
export async function inSentences<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { name, message, code, syscall } = error as NodeJS.ErrnoException
    if (name === 'EtcdUnreachable') throw new Failure(exitCodes.unreachable, message)
    if (name === 'NoStore' || code === 'ENOENT') throw new Failure(exitCodes.notFound, message)
    if (storeErrors.includes(name) || syscall !== undefined) throw new Failure(exitCodes.refused, message)
    throw error
  }
}

const storeErrors = [
  'BackupRefused',
  'EtcdRefused',
  'JournalDamaged',
  'RestoreRefused',
  'SnapshotDamaged',
  'StoreInUse',
  'StoreUnusable',
]

function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
