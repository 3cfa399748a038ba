// Text for a terminal: width, wrapping, colors, and light emphasis for Markdown.

import type { ChalkInstance } from 'chalk'
import { harmless } from '../../daemon/local/harmless.ts'
import type { Globals } from '../base/globals.ts'

export interface Terminal {
  /** Columns; undefined if lines can have any length. */
  readonly columns: number | undefined
  readonly colors: ChalkInstance | undefined
}

let measure: typeof import('./measure.ts') | undefined

/** For output that is about to be printed; plain ASCII without wrapping needs no measuring. */
export async function terminalFor(globals: Pick<Globals, 'color'>, shown?: unknown): Promise<Terminal> {
  const columns = process.stdout.isTTY ? Math.max(20, process.stdout.columns || 80) : undefined
  if (columns !== undefined || shown === undefined || !isPlain(JSON.stringify(shown))) await loadMeasure()
  return { columns, colors: await colorsFor(globals) }
}

export async function colorsFor({ color }: Pick<Globals, 'color'>): Promise<ChalkInstance | undefined> {
  const isColored = color === 'always' || (color === 'auto' && process.stdout.isTTY && !process.env.NO_COLOR)
  return isColored ? new (await import('chalk')).Chalk({ level: 1 }) : undefined
}

export async function loadMeasure(): Promise<void> {
  measure ??= await import('./measure.ts')
}

/** Characters; more than servers allow in a message. Beyond it texts are neither measured nor wrapped, which can take the square of their length. */
const longestMeasured = 20_000

/** Wraps a text that starts after `head` columns; further lines are indented. */
export function wrapText(text: string, columns: number | undefined, indent: number, head: number): string {
  if (columns === undefined && !text.includes('\n')) return text
  const lines = text.split('\n')
  const fitting = lines.flatMap((line, index) => {
    if (columns === undefined || text.length > longestMeasured) return [line]
    const room = Math.max(10, columns - indent)
    // The first line has less room: put a filler in front of it and remove it again.
    const filler = index === 0 ? '\u2007'.repeat(Math.max(0, Math.min(head, columns - 10) - indent)) : ''
    const parts = measure!.wrapAnsi(filler + line, room, { trim: false, hard: true }).split('\n')
    return parts.map((part, at) => (at === 0 ? part.slice(filler.length) : part.replace(/^ /, '')).trimEnd())
  })
  return fitting.map((line, index) => (index === 0 ? line : `${' '.repeat(indent)}${line}`.trimEnd())).join('\n')
}

export function measureWidth(text: string): number {
  if (isPlain(text) || text.length > longestMeasured) return text.length
  return measure?.stringWidth(text) ?? [...text].length
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** Markdown with colors in place of its marks; without colors it stays as written. */
export function markdownText(source: string, colors: ChalkInstance | undefined): string {
  const text = harmless(source)
  if (!colors) return text
  let fence = false
  /** The fence that ends a quote. */
  let quote: string | undefined
  return text
    .split('\n')
    .flatMap(line => {
      const opened = fence ? undefined : /^(`{3,}|~{3,}) ?quote$/.exec(line)?.[1]
      if ((quote === undefined && opened) || line === quote) {
        quote = quote === undefined ? opened : undefined
        return []
      }
      if (quote !== undefined) return colors.dim(`> ${line}`)
      if (/^\s*(```|~~~)/.test(line)) {
        fence = !fence
        return colors.dim(line)
      }
      if (fence) return colors.yellow(line)
      if (/^\s*>/.test(line)) return colors.dim(line)
      return line.replace(inline, (whole, code, bold, italic, mention, channel, link, url) => {
        if (code) return colors.yellow(code.slice(1, -1))
        if (mention) return colors.magenta(`@${mention.replace(/\|\d+$/, '')}`)
        if (channel) return colors.blue(`#${channel.replace('>', ' > ')}`)
        if (bold) return colors.bold(bold)
        if (italic) return colors.italic(italic)
        if (link) return `${colors.underline(link)} ${colors.dim(`<${url}>`)}`
        return whole
      })
    })
    .join('\n')
}

/** No part goes past the mark that it begins with, so that a text of many opening marks is read once and not once for each. */
const inline =
  /(`[^`\n]+`)|(?<![\w@#*])\*\*([^*\n]+)\*\*|(?<![\w@#*])\*([^*\n]+)\*(?!\*)|@_?\*\*([^*\n]+)\*\*|#\*\*([^*\n]+)\*\*|\[([^[\]\n]+)\]\(([^\s()]+)\)/g
