// The picture of a terminal on the first screen of the README: commands that a reader can repeat, and what they print, as SVG.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './generate/sources.ts'

/** What is typed. */
const session: readonly string[] = [
  'natter daemon start --memory --preset dev --fields url',
  "natter send '#general>deploys' 'v1.2 is live :tada:' --as amy",
  "natter send '#general>deploys' 'Nice! Rolling out to everybody.' --as mo",
  'natter messages list -n 2',
  "natter scheduled create '#general>deploys' 'Retro in 5 minutes' --at +2h",
  'natter clock advance 2h',
  'natter wait --topic deploys --match /retro/i --since 1m',
  `natter messages list -n 2 --jq '.messages[] | "\\(.id): \\(.sender_full_name)"'`,
]

export async function takeTerminalPicture(file: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'natter-picture-'))
  const env = {
    NATTER_COLOR: 'always',
    // Readers have the usual port.
    NATTER_PORT: '0',
    PATH: `${join(root, 'bin')}:${process.env.PATH}`,
    HOME: home,
    TZ: 'UTC',
  }
  try {
    const lines: string[] = []
    for (const command of session) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env, cwd: home })
      const printed = stdout.replace(/(127\.0\.0\.1):\d+/g, '$1:9991')
      lines.push(`\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m`, ...printed.trimEnd().split('\n'))
    }
    writeFileSync(file, svgOf(lines))
  } finally {
    await promisify(execFile)('natter', ['daemon', 'stop'], { env })
    rmSync(home, { recursive: true, force: true })
  }
}

const size = { text: 14, line: 20, character: 8.43, margin: 18, bar: 34 }

function svgOf(lines: readonly string[]): string {
  const columns = Math.max(...lines.map(line => line.replace(steering, '').length))
  const width = Math.ceil(columns * size.character + 2 * size.margin)
  const height = size.bar + lines.length * size.line + size.margin
  const texts = lines.map((line, index) => {
    const y = size.bar + (index + 1) * size.line - 5
    return `<text x="${size.margin}" y="${y}" xml:space="preserve">${spansOf(line)}</text>`
  })
  const buttons = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, index) => `<circle cx="${20 + 20 * index}" cy="17" r="6" fill="${color}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>A terminal with natter</title>
<rect width="${width}" height="${height}" rx="8" fill="#1b1f27"/>
${buttons.join('')}
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${size.text}" fill="#d7dae0">
${texts.join('\n')}
</g>
</svg>
`
}

/** Codes of color and weight, and nothing else: what natter prints moves no cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being read
const steering = /\u001b\[([\d;]*)m/g

const colors: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
}

/** A line with its codes as spans. */
function spansOf(line: string): string {
  let color: string | undefined
  let bold = false
  let dim = false
  const spans: string[] = []
  const put = (text: string) => {
    if (text === '') return
    const look = [color && `fill="${color}"`, bold && 'font-weight="bold"', dim && 'fill-opacity="0.6"'].filter(Boolean)
    spans.push(look.length === 0 ? escaped(text) : `<tspan ${look.join(' ')}>${escaped(text)}</tspan>`)
  }
  let at = 0
  for (const found of line.matchAll(steering)) {
    put(line.slice(at, found.index))
    at = found.index + found[0].length
    for (const code of (found[1] || '0').split(';').map(Number)) {
      if (code === 0 || code === 39) color = undefined
      if (code === 0 || code === 22) bold = dim = false
      if (code === 1) bold = true
      if (code === 2) dim = true
      color = colors[code] ?? color
    }
  }
  put(line.slice(at))
  return spans.join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
