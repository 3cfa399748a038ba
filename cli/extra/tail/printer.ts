// Puts events on stdout: as lines for people, as JSON, or as what a jq expression makes of them.

import type { Globals } from '../../globals.ts'
import { picked } from '../../select.ts'
import type { Terminal } from '../terminal.ts'
import type { Place } from './criteria.ts'
import type { ChatEvent } from './history.ts'
import { lineOf } from './lines.ts'

export interface Printer {
  /** Needs to know nothing but the event. */
  readonly raw: boolean
  /** With `through`, returns when the system has it. */
  event(event: ChatEvent, place: Place | undefined, through: boolean): Promise<void>
  flush(): Promise<void>
}

export async function printerFor(
  globals: Pick<Globals, 'json' | 'ndjson' | 'fields' | 'jq'>,
  terminal: Terminal,
  self: string | undefined,
): Promise<Printer> {
  const { json, ndjson, fields, jq } = globals
  const raw = json || ndjson || fields !== undefined || jq !== undefined
  const filter = jq === undefined ? undefined : (await import('../../jq.ts')).jqText
  const textOf = async (event: ChatEvent, place: Place | undefined): Promise<string> => {
    const value = fields ? picked(event, fields) : event
    if (filter) return filter(value, jq!)
    return `${raw ? JSON.stringify(value) : lineOf(event, place, terminal, new Date(), self)}\n`
  }
  return {
    raw,
    async event(event, place, through) {
      const text = await textOf(event, place)
      if (text === '') return
      if (through) await written(text)
      else if (!process.stdout.write(text)) await new Promise(resolve => process.stdout.once('drain', resolve))
    },
    flush: () => written(''),
  }
}

function written(text: string): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, error => (error ? reject(error) : resolve())))
}
