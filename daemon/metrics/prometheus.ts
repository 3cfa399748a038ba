// The metrics of a process in the format of Prometheus. A bundle of its own, loaded only with --metrics.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { FinishedCall } from '../http/observed-call.ts'
import { version } from '../local/version.ts'
import type { WebhookOutcome, WorldFigures } from './figures.ts'

export interface Sources {
  figures(): WorldFigures
  connections(): Promise<number>
  /** Absent for a daemon that is alone. */
  cluster?(): { readonly role: string; readonly lag: number }
}

/** Seconds. A durable write takes a few milliseconds; anything above a second is worth a look. */
const callBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const flushBuckets = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]

export class Metrics {
  readonly #registry = new Registry()
  readonly #calls = this.#counter('natter_calls_total', 'Calls of the API that were answered', ['operation', 'status'])
  readonly #durations = this.#histogram(
    'natter_call_duration_seconds',
    'Time from the arrival of a call to its answer, without polls that waited for events',
    callBuckets,
    ['operation'],
  )
  readonly #flushes = this.#histogram(
    'natter_journal_flush_duration_seconds',
    'Time to write and sync a batch of journal entries',
    flushBuckets,
  )
  readonly #flushed = this.#counter('natter_journal_written_bytes_total', 'Bytes written to the journal')
  readonly #webhooks = this.#counter('natter_webhook_attempts_total', 'Calls of the servers of bots', ['outcome'])
  #sources: Sources | undefined

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
    this.#gauge('natter_build_info', 'Version of natter; always 1', () => undefined, ['version']).set(
      { version: version() },
      1,
    )
    this.#figure('natter_users', 'Active accounts', ({ users }) => users)
    this.#figure('natter_messages', 'Messages in the store', ({ messages }) => messages)
    this.#figure('natter_queues', 'Event queues', ({ queues }) => queues)
    this.#figure('natter_waiting_polls', 'Polls that wait for an event', ({ waitingPolls }) => waitingPolls)
    this.#figure('natter_pending_events', 'Events that no client has acknowledged', f => f.pendingEvents)
    this.#figure('natter_pending_events_characters', 'Size of these events', f => f.pendingSize)
    this.#figure('natter_journal_position', 'Number of the newest journal entry', ({ position }) => position)
    this.#figure('natter_journal_bytes', 'Size of the journal since the last snapshot', f => f.journalBytes)
    this.#figure('natter_snapshot_position', 'Journal entry of the newest snapshot', f => f.snapshot?.position)
    this.#figure('natter_snapshot_age_seconds', 'Time since the newest snapshot', f => f.snapshot?.ageSeconds)
    this.#figure(
      'natter_waiting_webhooks',
      'Calls of servers of bots that are still to be made',
      f => f.waitingWebhooks,
    )
    const place = () => this.#sources?.cluster?.()
    this.#gauge('natter_cluster_leader', 'Whether this daemon leads its cluster', () => {
      const { role = undefined } = place() ?? {}
      return role === undefined ? undefined : Number(role === 'leader')
    })
    this.#gauge('natter_cluster_lag_entries', 'Entries of the log that this daemon has not applied', () => place()?.lag)
    this.#gauge('natter_connections', 'Open connections', () => this.#sources?.connections())
  }

  /** Figures are of this world. */
  show(sources: Sources): void {
    this.#sources = sources
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  readonly countCall = ({ operation = 'unknown', status, milliseconds, waited }: FinishedCall): void => {
    this.#calls.inc({ operation, status })
    if (!waited) this.#durations.observe({ operation }, milliseconds / 1000)
  }

  readonly countFlush = (milliseconds: number, bytes: number): void => {
    this.#flushes.observe(milliseconds / 1000)
    this.#flushed.inc(bytes)
  }

  readonly countWebhook = (outcome: WebhookOutcome): void => this.#webhooks.inc({ outcome })

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] })
  }

  /** A figure that is not there is not shown: 0 would be a claim. */
  #gauge(
    name: string,
    help: string,
    read: () => number | undefined | Promise<number | undefined>,
    labelNames: string[] = [],
  ): Gauge {
    return new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const value = await read()
        if (value !== undefined) this.set(value)
        else if (labelNames.length === 0) this.remove()
      },
    })
  }

  #figure(name: string, help: string, read: (figures: WorldFigures) => number | undefined): void {
    this.#gauge(name, help, () => (this.#sources ? read(this.#sources.figures()) : undefined))
  }
}
