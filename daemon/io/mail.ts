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
  /** Waits for what is under way, but not for a server that does not answer: its mail is on disk. */
  settled(): Promise<void>
}

interface MailerParts {
  /** null: nowhere to keep mails (`--memory`); they are sent or dropped. */
  readonly folder: string | null
  readonly smtpUrl: string | undefined
  readonly from: string
  readonly now: () => number
}

const patience = 3000

export function openMailer(parts: MailerParts): Mailer {
  // One after the other: an SMTP server is not a place to hurry, and the order of mails is kept.
  let work: Promise<void> = Promise.resolve()
  const enqueue = (run: () => Promise<void>): void => {
    work = work.then(run).catch(error => warn(`mail: ${(error as Error).message}`))
  }
  return {
    post(mails) {
      for (const mail of mails) enqueue(() => take(parts, mail))
    },
    resume() {
      if (parts.smtpUrl && parts.folder) enqueue(() => sendWaiting(parts))
    },
    settled: () => Promise.race([work, sleep(patience, undefined, { ref: false })]),
  }
}

async function take(parts: MailerParts, mail: Mail): Promise<void> {
  const raw = await compose(parts, mail)
  if (!parts.folder) return parts.smtpUrl ? send(parts, raw) : undefined
  const file = join(parts.folder, `${parts.now()}-${randomUUID()}.eml`)
  await mkdir(parts.folder, { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, raw)
  if (parts.smtpUrl) await sendFile(parts, file)
}

async function sendWaiting(parts: MailerParts): Promise<void> {
  const names = await readdir(parts.folder!).catch(() => [])
  for (const name of names.filter(name => name.endsWith('.eml')).sort())
    await sendFile(parts, join(parts.folder!, name))
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
  const to = /^To: (.*)$/im.exec(raw.toString())?.[1]?.trim()
  if (!to) throw new Error('a mail in the outbox has no recipient')
  await createTransport(smtpUrl!).sendMail({ envelope: { from, to }, raw })
}
