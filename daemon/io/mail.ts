// Mail leaves through here: kept as .eml files in the store's outbox, and sent from there when an SMTP server is given.
// A mail is on disk before anyone tries to send it, and what could not be sent is tried again at the next start.

import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mail } from '../domain/resource.ts'
import { writeFileAtomically } from '../local/atomic-file.ts'
import { warn } from '../local/warnings.ts'

export interface Mailer {
  /** Takes mails over; returns at once and never throws. */
  post(mails: readonly Mail[]): void
  /** Sends what an earlier run left behind. */
  resume(): void
  /** Waits until all mails are on disk, but not for a server that does not answer. What was not sent is reported. */
  settled(): Promise<void>
}

interface MailerParts {
  /** null: nowhere to keep mails (`--memory`); they are sent or dropped. */
  readonly folder: string | null
  readonly smtpUrl: string | undefined
  readonly from: string
  readonly now: () => number
}

/** Milliseconds that a stop waits for mail that is being sent. */
const stopWait = 3000

export function openMailer(parts: MailerParts): Mailer {
  // Each one after the other: an SMTP server is not a place to hurry, and the order of mails is kept.
  const keeping = new Line()
  const sending = new Line()
  const { folder, smtpUrl } = parts
  return {
    post(mails) {
      for (const mail of mails)
        keeping.add(async () => {
          const raw = await compose(parts, mail)
          const file = folder && (await keep(folder, raw, parts.now()))
          if (smtpUrl) sending.add(() => (file ? sendFile(parts, file) : send(parts, raw)))
        })
    },
    resume() {
      if (!smtpUrl || !folder) return
      keeping.add(async () => {
        for (const file of await waitingIn(folder)) sending.add(() => sendFile(parts, file))
      })
    },
    async settled() {
      await keeping.work
      await Promise.race([sending.work, sleep(stopWait, undefined, { ref: false })])
      const { length } = sending
      if (length > 0 && folder)
        warn(`mail: ${length} in ${folder} could not be sent before the stop; the next start sends what is there`)
      else if (length > 0) warn(`mail: ${length} could not be sent before the stop, and are lost`)
    },
  }
}

class Line {
  work: Promise<void> = Promise.resolve()
  /** How many are not done. */
  length = 0

  add(run: () => Promise<void>): void {
    this.length++
    this.work = this.work
      .then(run)
      .catch(error => warn(`mail: ${(error as Error).message}`))
      .finally(() => this.length--)
  }
}

async function keep(folder: string, raw: Buffer, now: number): Promise<string> {
  const file = join(folder, `${now}-${randomUUID()}.eml`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, raw)
  return file
}

async function waitingIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => entry.isFile() && entry.name.endsWith('.eml'))
    .map(({ name }) => join(folder, name))
    .sort()
}

async function sendFile(parts: MailerParts, file: string): Promise<void> {
  await send(parts, await readFile(file))
  await rm(file)
}

// Loaded at the first mail: most daemons never send one.
async function compose({ from, now }: MailerParts, { to, subject, text }: Mail): Promise<Buffer> {
  const { createTransport } = await import('nodemailer')
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message } = await composer.sendMail({ from, to, subject, text, date: new Date(now()) })
  return message as Buffer
}

async function send({ smtpUrl, from }: MailerParts, raw: Buffer): Promise<void> {
  const { createTransport } = await import('nodemailer')
  // A header of more than 76 characters continues in the next line.
  const to = /^To:\s+(\S+)$/im.exec(raw.toString())?.[1]
  if (!to) throw new Error('a mail in the outbox has no recipient')
  await createTransport(smtpUrl!).sendMail({ envelope: { from, to }, raw })
}
