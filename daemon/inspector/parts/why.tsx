// "Why?": asks the daemon why an account received a message or not, or why a call was refused, and shows the answer.

import { signal } from '@preact/signals'
import { NatterError } from '../../client/sender.ts'
import { control, messageOf } from '../session.ts'
import { Json } from './basics.tsx'
import { Dialog } from './dialog.tsx'

interface Answer {
  readonly title: string
  readonly reply?: any
  readonly problem?: string
}

const answer = signal<Answer | undefined>(undefined)

export function explainMessage(message: number, user: string): void {
  void explain(`Did ${user} receive message ${message}?`, { message, user })
}

export function explainCall(call: number): void {
  void explain(`Why was call ${call} answered like this?`, { call })
}

async function explain(title: string, params: Readonly<Record<string, unknown>>): Promise<void> {
  answer.value = { title }
  try {
    const { result: _result, msg: _msg, ...reply } = await control('GET', '/why', params)
    answer.value = { title, reply }
  } catch (error) {
    const unknown = error instanceof NatterError && error.status === 404 && /endpoint/.test(error.message)
    answer.value = { title, problem: unknown ? 'This daemon cannot explain it.' : messageOf(error) }
  }
}

export function WhyDialog() {
  const shown = answer.value
  if (!shown) return null
  const close = () => {
    answer.value = undefined
  }
  return (
    <Dialog title={shown.title} onClose={close}>
      {shown.problem && <p>{shown.problem}</p>}
      {!shown.problem && !shown.reply && <p class="faint">Asking…</p>}
      {shown.reply && <Explanation reply={shown.reply} />}
    </Dialog>
  )
}

interface Step {
  readonly step: string
  readonly ok: boolean | null
  readonly says: string
  readonly rule?: string
  readonly law?: string
}

const outcomes = new Map<boolean | null, string>([
  [true, 'yes'],
  [false, 'no'],
  [null, 'note'],
])

function Explanation({ reply }: { reply: any }) {
  const { summary, steps, ...rest } = reply as { summary: string; steps: readonly Step[] }
  return (
    <>
      <p class="lead">{summary}</p>
      <ol class="steps">
        {steps.map(({ step, ok, says, rule, law }, index) => (
          <li key={index} data-ok={ok}>
            <b>{step}</b> <span class="faint">{outcomes.get(ok)}</span> {says}
            {law && (
              <p class="faint">
                {rule && <code>{rule}</code>} {law}
              </p>
            )}
          </li>
        ))}
      </ol>
      <Json value={rest} />
    </>
  )
}
