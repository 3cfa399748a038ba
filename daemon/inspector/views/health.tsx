// The health of the daemon: rates, latencies, queues, memory and journal over the last minutes.

import { useEffect } from 'preact/hooks'
import { closely, type Sample, samples } from '../live.ts'
import { bytes, duration } from '../parts/format.ts'
import { type Line, Plot } from '../parts/plot.tsx'

export function Health() {
  useEffect(() => {
    closely.value = true
    return () => {
      closely.value = false
    }
  }, [])
  const list = samples.value
  const newest = list.at(-1)
  const times = list.map(({ at }) => at)
  return (
    <div class="page" tabIndex={0} role="region" aria-label="Figures">
      <header class="toolbar">
        <h1>Health</h1>
        {newest && (
          <p class="faint">
            natter {newest.version}, running for {uptime(newest.uptime_ms)}, position {newest.position.toLocaleString()}
          </p>
        )}
      </header>
      {list.length < 2 ? (
        <p class="empty">Collecting…</p>
      ) : (
        <div class="plots">
          <Plot
            title="Calls and events"
            times={times}
            show={value => `${round(value)}/s`}
            lines={[rate(list, 'calls'), rate(list, 'events')]}
          />
          <Plot
            title="Latency"
            times={times}
            show={duration}
            lines={[latency(list, 0.5, 'median'), latency(list, 0.95, '95th'), latency(list, 1, 'slowest')]}
          />
          <Plot
            title="Queues"
            times={times}
            show={round}
            unit="count"
            lines={[line(list, 'queues', 'queues'), line(list, 'waiting', 'with a waiting poll')]}
          />
          <Plot
            title="Pending events"
            times={times}
            show={round}
            unit="count"
            lines={[line(list, 'pending', 'pending')]}
          />
          <Plot
            title="Memory"
            times={times}
            show={bytes}
            unit="bytes"
            lines={[line(list, 'rss', 'process'), line(list, 'heap_used', 'heap')]}
          />
          {newest!.journal_bytes === null ? (
            <Plot
              title="Journal"
              times={times}
              show={round}
              unit="count"
              lines={[line(list, 'position', 'entries, in memory')]}
            />
          ) : (
            <Plot
              title="Journal"
              times={times}
              show={bytes}
              unit="bytes"
              lines={[line(list, 'journal_bytes', 'size')]}
            />
          )}
        </div>
      )}
    </div>
  )
}

function line(
  list: readonly Sample[],
  field: 'queues' | 'waiting' | 'pending' | 'rss' | 'heap_used' | 'position' | 'journal_bytes',
  name: string,
): Line {
  return { name, values: list.map(sample => sample[field]) }
}

/** Per second, between two samples. */
function rate(list: readonly Sample[], field: 'calls' | 'events'): Line {
  const values = list.map((sample, index) => {
    const before = list[index - 1]
    if (!before) return null
    // A daemon that was started again counts from 0.
    return Math.max(0, sample[field] - before[field]) / (sample.at - before.at)
  })
  return { name: field, values }
}

function latency(list: readonly Sample[], share: number, name: string): Line {
  const values = list.map(({ durations }) => {
    if (durations.length === 0) return null
    const sorted = [...durations].sort((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  })
  return { name, values }
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString() : String(Math.round(value * 10) / 10)
}

function uptime(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}
