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
  /** Makes its lines, which wait for `flush`. True when so many wait that they should go now. */
  event(event: ChatEvent, place: Place | undefined): Promise<boolean>
  /** Writes what waits, in one piece; returns when the system has it. */
  flush(): Promise<void>
}

/** What a pipe takes at once. */
const enough = 65_536

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
  let waiting = ''
  return {
    raw,
    async event(event, place) {
      waiting += await textOf(event, place)
      return waiting.length >= enough
    },
    async flush() {
      const text = waiting
      waiting = ''
      if (text !== '') await written(text)
    },
  }
}

function written(text: string): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, error => (error ? reject(error) : resolve())))
}
