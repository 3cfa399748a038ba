// Transcripts in Markdown: `console` blocks with commands after `$ ` and what they print. `...` matches anything in a line, and on a
// line of its own any lines; `[0-9]+` and other sets of characters are patterns; `[3]` is an exit code other than 0.

export interface Step {
  /** As it is written, with the lines that continue it. */
  readonly source: readonly string[]
  readonly command: string
  /** Number in the file, from 1. */
  readonly line: number
  readonly expected: readonly string[]
}

export interface Block {
  /** Number of the line that opens it, from 1. */
  readonly line: number
  /** Number of the line that closes it. */
  readonly end: number
  readonly steps: readonly Step[]
}

/** `stray` is the number of a line in a block before its first command. */
export function blocksIn(page: string): { readonly blocks: readonly Block[]; readonly stray?: number } {
  const blocks: Block[] = []
  let steps: { source: string[]; command: string; line: number; expected: string[] }[] | undefined
  let opened = 0
  for (const [index, line] of page.split('\n').entries()) {
    const number = index + 1
    if (!steps) {
      if (/^```console\s*$/.test(line)) [steps, opened] = [[], number]
    } else if (/^```\s*$/.test(line)) {
      blocks.push({ line: opened, end: number, steps })
      steps = undefined
    } else if (line.startsWith('$ ')) {
      steps.push({ source: [line], command: line.slice(2), line: number, expected: [] })
    } else {
      const last = steps.at(-1)
      if (!last) return { blocks, stray: number }
      if (line.startsWith('> ') && last.expected.length === 0) {
        last.source.push(line)
        last.command += `\n${line.slice(2)}`
      } else last.expected.push(line)
    }
  }
  return { blocks }
}

/** The lines of what a command printed, and its exit code if that is not 0. */
export function linesOf(output: string, code: number): string[] {
  const lines = output === '' ? [] : output.replace(/\n$/, '').split('\n')
  return code === 0 ? lines : [...lines, `[${code}]`]
}

export function fits(expected: readonly string[], actual: readonly string[]): boolean {
  // Which beginnings of what was printed fit the lines so far: as many as there are lines, never more work than their product.
  let reached = new Set([0])
  for (const line of expected) {
    const next = new Set<number>()
    if (isEllipsis(line)) {
      for (let at = Math.min(...reached); at <= actual.length; at++) next.add(at)
    } else {
      const pattern = patternOf(line)
      for (const at of reached) if (at < actual.length && pattern.test(actual[at]!.trimEnd())) next.add(at + 1)
    }
    if (next.size === 0) return false
    reached = next
  }
  return reached.has(actual.length)
}

/**
 * Whether a block printed what it shows, command by command. What a command in the background prints can come at any time, so
 * a block with one is compared as a whole.
 */
export function blockFits({ steps }: Block, printed: readonly (readonly string[])[]): boolean {
  if (steps.some(({ command }) => /(?<!&)&\s*$/.test(command)))
    return fits(
      steps.flatMap(({ expected }) => expected),
      printed.flat(),
    )
  return steps.every(({ expected }, at) => fits(expected, printed[at]!))
}

/** What was printed, in the words of the page where a line of it fits. */
export function updated(expected: readonly string[], actual: readonly string[]): string[] {
  if (fits(expected, actual)) return [...expected]
  const old = expected.filter(line => !isEllipsis(line)).map(line => ({ line, pattern: patternOf(line) }))
  let from = 0
  return actual.map(line => {
    const at = old.findIndex(({ pattern }, index) => index >= from && pattern.test(line.trimEnd()))
    if (at < 0) return line.trimEnd()
    from = at + 1
    return old[at]!.line
  })
}

/** The page with other output in some blocks. */
export function withOutput(page: string, blocks: readonly Block[]): string {
  const lines = page.split('\n')
  // From the end, so that the numbers of earlier lines stay true.
  for (const { line, end, steps } of blocks.toReversed())
    lines.splice(line, end - line - 1, ...steps.flatMap(({ source, expected }) => [...source, ...expected]))
  return lines.join('\n')
}

function isEllipsis(line: string): boolean {
  return /^(?:\.\.\.|…)\s*$/.test(line)
}

function patternOf(line: string): RegExp {
  const parts = line.trimEnd().split(/(\.\.\.|…|\[[^\]\s]+\]\+)/)
  return new RegExp(`^${parts.map(patternPart).join('')}$`)
}

function patternPart(part: string): string {
  if (part === '...' || part === '…') return '.*'
  if (/^\[[^\]\s]+\]\+$/.test(part) && isPattern(part)) return part
  return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}
