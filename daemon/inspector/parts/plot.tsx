// A small plot of a few lines over time. Lines differ in dashes as well as in colour, and the newest values stand beside
// them as text.

import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { timeOfDay } from './format.ts'

export interface Line {
  readonly name: string
  /** One value for each time; null where there is none. */
  readonly values: readonly (number | null)[]
}

interface Props {
  readonly title: string
  /** Seconds. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly show: (value: number) => string
  /** What the values are: bytes have marks at powers of two, things that are counted at whole numbers. */
  readonly unit?: 'bytes' | 'count'
}

const dashes = [[], [6, 4], [2, 3]]
const height = 130

const steps = {
  bytes: Array.from({ length: 45 }, (_, exponent) => 2 ** exponent),
  count: Array.from({ length: 12 }, (_, exponent) => [1, 2, 5].map(digit => digit * 10 ** exponent)).flat(),
}

export function Plot({ title, times, lines, show, unit }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const data = [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData
  useEffect(() => {
    const element = box.current!
    // The canvas wants a plain colour, and a name of the style sheet has one for light and one for dark.
    const colour = (name: string) => {
      element.style.color = `var(${name})`
      return getComputedStyle(element).color
    }
    const axis = {
      stroke: () => colour('--faint'),
      grid: { stroke: () => colour('--line'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    }
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(max || 0, 1) * 1.15] } },
        padding: [6, 10, 0, 0],
        axes: [
          {
            ...axis,
            size: 24,
            space: 70,
            values: (_plot, ticks) => ticks.map(time => timeOfDay(time * 1000).slice(0, 8)),
          },
          { ...axis, size: 66, ...(unit && { incrs: steps[unit] }), values: (_plot, ticks) => ticks.map(show) },
        ],
        series: [
          {},
          ...lines.map(({ name }, index) => ({
            label: name,
            stroke: () => colour(`--plot-${index}`),
            width: 1.5,
            dash: dashes[index % dashes.length]!,
            points: { show: false },
            spanGaps: true,
          })),
        ],
      },
      data,
      element,
    )
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [])
  useEffect(() => {
    plot.current?.setData(data)
  })
  const newest = lines.map(({ name, values }) => {
    const value = values.findLast(one => one !== null)
    return { name, text: value === undefined || value === null ? '–' : show(value) }
  })
  return (
    <figure class="plot card">
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {newest.map(({ name, text }, index) => (
            <li key={name}>
              <svg viewBox="0 0 24 4" aria-hidden="true">
                <path
                  d="M0 2h24"
                  stroke={`var(--plot-${index})`}
                  stroke-dasharray={dashes[index % dashes.length]!.join(' ')}
                />
              </svg>
              {name} <b>{text}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        ref={box}
        role="img"
        aria-label={`${title}: ${newest.map(({ name, text }) => `${name} ${text}`).join(', ')}`}
      />
    </figure>
  )
}
