// "Why?": asks the daemon why an account was or was not told of a message, or why a call was refused, and shows the answer.

import { signal } from '@preact/signals'
import { NatterError } from '../../client/sender.ts'
import { control, messageOf } from '../session.ts'
import { Json } from './controls.tsx'
import { Dialog } from './dialog.tsx'

interface Answer {
  readonly title: string
  readonly reply?: any
  readonly problem?: string
}

const answer = signal<Answer | undefined>(undefined)

export function explainMessage(message: number, user: string): void {
  void explain(`Was ${user} told of message ${message}?`, { message, user })
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

/** A sentence and steps where the daemon gives them; the rest as it is. */
function Explanation({ reply }: { reply: any }) {
  const { summary, steps, ...rest } = reply.why ?? reply
  return (
    <>
      {typeof summary === 'string' && <p class="lead">{summary}</p>}
      {Array.isArray(steps) && (
        <ol class="steps">
          {steps.map((step: any, index: number) => (
            <li key={index} data-ok={step.ok ?? step.passed}>
              <b>{String(step.step ?? step.name ?? '')}</b> {String(step.says ?? step.why ?? step.text ?? '')}
            </li>
          ))}
        </ol>
      )}
      {Object.keys(rest).length > 0 && <Json value={rest} />}
    </>
  )
}
