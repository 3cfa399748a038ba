// One picture as SVG, by Vega-Lite. Grey text and clear colours on a transparent ground: readable on a light page and on a dark one,
// whatever the viewer's system says.

import type { MeasuredPicture, Point } from './measured.ts'

const grey = '#7d8590'
const faint = '#7d859040'
/** Told apart by the colour-blind too. The first one is ours. */
const colours = ['#2f81f7', '#db6d28', '#2da44e', '#a371f7', '#d4a72c', '#e5534b']

export async function draw(picture: MeasuredPicture, origin: string): Promise<string> {
  const [{ parse, View }, { compile }] = await Promise.all([import('vega'), import('vega-lite')])
  const { spec } = compile(specOf(picture, origin) as never)
  const view = new View(parse(spec), { renderer: 'none' })
  const svg = await view.toSVG()
  view.finalize()
  return `${named(svg, picture)}\n`
}

function specOf(picture: MeasuredPicture, origin: string): object {
  const { title, points } = picture
  return {
    width: 560,
    height: picture.kind === 'bars' ? { step: 30 } : 260,
    background: null,
    padding: 12,
    title: { text: title, subtitle: wrapped(origin.replaceAll('`', '')) },
    data: { values: points },
    layer: picture.kind === 'bars' ? bars(picture) : curves(picture),
    config: {
      font: 'system-ui, sans-serif',
      title: { color: grey, subtitleColor: grey, anchor: 'start', fontSize: 15, subtitleFontSize: 10, offset: 14 },
      axis: {
        labelColor: grey,
        titleColor: grey,
        gridColor: faint,
        domainColor: grey,
        tickColor: grey,
        labelFontSize: 11,
      },
      legend: { labelColor: grey, titleColor: grey, labelFontSize: 11, labelLimit: 200 },
      view: { stroke: null },
      range: { category: colours },
    },
  }
}

function curves({ x, y, points }: MeasuredPicture): object[] {
  const order = [...new Set(points.map(({ line }) => line))]
  const places = [...new Set(points.map(point => point.x))]
  const legend = { orient: 'bottom', symbolType: 'stroke', symbolOpacity: 1, symbolStrokeWidth: 3, labelLimit: 0 }
  const encoding = {
    x: x.order
      ? { field: 'x', type: 'ordinal', sort: x.order, axis: { title: x.title, labelAngle: 0 } }
      : {
          field: 'x',
          type: 'quantitative',
          scale: scale(x),
          axis: { title: x.title, grid: false, values: places, format: ',' },
        },
    color: { field: 'line', type: 'nominal', sort: order, title: null, legend },
  }
  const values = y.scale === 'log' ? { values: powersOver(points) } : { tickCount: 6 }
  const height = { type: 'quantitative', scale: scale(y), axis: { title: y.title, format: ',.2~r', ...values } }
  return [
    {
      mark: { type: 'area', opacity: 0.2 },
      encoding: { ...encoding, y: { ...height, field: 'low' }, y2: { field: 'high' } },
    },
    {
      mark: { type: 'line', strokeWidth: 2, point: { size: 35, filled: true } },
      encoding: { ...encoding, y: { ...height, field: 'y' } },
    },
  ]
}

/** The powers of ten from below the lowest point to above the highest one. */
function powersOver(points: readonly Point[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...points.map(point => point.low))))
  const high = Math.ceil(Math.log10(Math.max(...points.map(point => point.high))))
  return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
}

function bars({ y, points }: MeasuredPicture): object[] {
  const order = points.map(({ x }) => x)
  const place = { field: 'x', type: 'nominal', sort: order, axis: { title: null, labelLimit: 200 } }
  const length = { field: 'y', type: 'quantitative', axis: { title: y.title } }
  const isOurs = { test: "indexof(datum.line, 'natter') === 0", value: colours[0] }
  return [
    {
      mark: { type: 'bar', height: 18 },
      encoding: { y: place, x: length, color: { condition: isOurs, value: grey } },
    },
    {
      mark: { type: 'text', align: 'left', dx: 6, color: grey, fontSize: 11 },
      encoding: { y: place, x: length, text: { field: 'y', type: 'quantitative', format: ',.0f' } },
    },
  ]
}

function scale({ scale }: { readonly scale?: 'log' }): object {
  return scale === 'log' ? { type: 'log', nice: true } : { zero: true, nice: true }
}

/** Lines of a length that fits under the title. */
function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (longer.length > 100) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

/** A screen reader says what it shows; the table below it in the page has the figures. */
function named(svg: string, { title }: MeasuredPicture): string {
  const text = title.replace(/[&<>]/g, char => `&#${char.charCodeAt(0)};`)
  return svg.replace('<svg ', '<svg role="img" ').replace(/(<svg[^>]*>)/, `$1<title>${text}</title>`)
}
