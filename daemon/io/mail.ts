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
  /** Waits until mails are on disk, and a little for the server. What was not sent is reported. */
  settled(): Promise<void>
}

interface MailerParts {
  /** null: nowhere to keep mails (`--memory`); they are sent or dropped. */
  readonly folder: string | null
  readonly smtpUrl: string | undefined
  readonly from: string
  readonly now: () => number
}

/** Milliseconds at a stop for mails to reach the disk, and then the server. */
const keepingTime = 10_000
const sendingTime = 3000

export function openMailer(parts: MailerParts): Mailer {
  // One after the other, so that the order of mails is kept. Those that come are written without waiting for those that are being sent.
  const keeping = new Chain()
  const sending = new Chain()
  const { folder, smtpUrl } = parts
  return {
    post(mails) {
      for (const mail of mails)
        keeping.add(async () => {
          const deliver = await keep(parts, mail)
          if (smtpUrl) sending.add(deliver)
        })
    },
    resume() {
      if (smtpUrl && folder) sending.add(() => sendWaiting(parts))
    },
    async settled() {
      await keeping.settled(keepingTime)
      await sending.settled(sendingTime)
      const lost = keeping.length + (folder ? 0 : sending.length)
      if (lost > 0) warn(`mail: ${lost} ${lost === 1 ? 'mail was' : 'mails were'} not sent before the stop, and lost`)
      else if (sending.length > 0)
        warn(
          `mail: ${sending.length} in ${folder} could not be sent before the stop; the next start sends what is there`,
        )
    },
  }
}

/** Work that is done one after the other. What fails is reported, and the rest goes on. */
class Chain {
  #last: Promise<void> = Promise.resolve()
  /** Of what is not done yet. */
  length = 0

  add(run: () => Promise<void>): void {
    this.length++
    this.#last = this.#last
      .then(run)
      .catch(error => warn(`mail: ${(error as Error).message}`))
      .finally(() => this.length--)
  }

  /** Waits for so many milliseconds at most. */
  async settled(ms: number): Promise<void> {
    await Promise.race([this.#last, sleep(ms, undefined, { ref: false })])
  }
}

/** Puts the mail on disk, if there is a place for it. Returns what sends it. */
async function keep(parts: MailerParts, mail: Mail): Promise<() => Promise<void>> {
  const raw = await compose(parts, mail)
  if (!parts.folder) return () => send(parts, raw)
  const file = join(parts.folder, `${parts.now()}-${randomUUID()}.eml`)
  await mkdir(parts.folder, { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, raw)
  return () => sendFile(parts, file)
}

async function keep(folder: string, raw: Buffer, now: number): Promise<string> {
  const file = join(folder, `${now}-${randomUUID()}.eml`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, raw)
  return file
}

async function waitingIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter(name => name.endsWith('.eml'))
    .sort()
    .map(name => join(folder, name))
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
