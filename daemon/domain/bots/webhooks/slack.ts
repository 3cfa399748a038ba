// A message for Slack as Markdown: its blocks and attachments, or its text. The fields are those that public servers read.

import { limits } from '../../limits.ts'
import { invalid } from '../../refusal.ts'
import { translateMarkup } from './slack-markup.ts'

type Fields = Readonly<Record<string, unknown>>

interface SlackMessage {
  readonly topic: string
  /** Empty if there is nothing to send. */
  readonly content: string
}

export function readSlackMessage(payload: unknown): SlackMessage {
  const message = objectAt(payload, '')
  const pieces = [
    ...renderPieces(message, 'blocks', '', blockText),
    ...renderPieces(message, 'attachments', '', attachmentText),
  ]
  let body = joinPieces(pieces)
  if (body === '' && message.text) {
    const icon = message.icon_emoji ? `${textAt(message.icon_emoji, 'icon_emoji')} ` : ''
    body = `${icon}${textAt(message.text, 'text')}`.trim()
  }
  const topic = 'channel' in message ? textAt(message.channel, 'channel').replace(/^[@#]/, '') : '(no topic)'
  return { topic, content: translateMarkup(body.slice(0, longestBody)) }
}

/** A message has a quarter of it. Markup that is translated becomes shorter at most by its marks. */
const longestBody = 4 * limits.messageContent

type Render = (item: Fields, place: string) => string

function renderPieces(fields: Fields, name: string, at: string, render: Render): string[] {
  if (!fields[name]) return []
  return listAt(fields[name], `${at}${name}`).map((item, index) => {
    const place = `${at}${name}[${index}]`
    return render(objectAt(item, place), `${place}.`)
  })
}

function joinPieces(pieces: readonly string[]): string {
  return pieces
    .map(piece => piece.trim())
    .filter(piece => piece !== '')
    .join('\n\n')
}

// --- blocks -------------------------------------------------------------------------------------------------------

const blockTypes = ['actions', 'context', 'divider', 'header', 'image', 'input', 'section', 'rich_text']

function blockText(block: Fields, at: string): string {
  const type = wordAt(block.type, `${at}type`, blockTypes)
  if (type === 'divider') return '----'
  if (type === 'header') return `## ${textObject(block.text, `${at}text`, ['plain_text'])}`
  if (type === 'context') return joinPieces(renderPieces(block, 'elements', at, contextText))
  if (type === 'section') return sectionText(block, at)
  if (type !== 'image') return ''
  const image = imageLink(block, at)
  const title = 'title' in block ? textObject(block.title, `${at}title`, ['plain_text']) : image.alt
  return `[${title}](${image.url})`
}

function contextText(element: Fields, at: string): string {
  const type = wordAt(element.type, `${at}type`, ['image', 'plain_text', 'mrkdwn'])
  return type === 'image' ? elementText(element, at) : textObject(element, at.slice(0, -1))
}

function sectionText(block: Fields, at: string): string {
  const accessory = 'accessory' in block ? objectAt(block.accessory, `${at}accessory`) : undefined
  const fields = 'fields' in block ? listAt(block.fields, `${at}fields`) : []
  return joinPieces([
    'text' in block ? textObject(block.text, `${at}text`) : '',
    accessory ? elementText(accessory, `${at}accessory.`) : '',
    fieldTable(fields.map((field, index) => textObject(field, `${at}fields[${index}]`))),
  ])
}

/** Slack shows fields in two columns. A cell of a table has no place for line breaks and bars. */
function fieldTable(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join('')
  const cells = texts.map(text => text.replace(/[\n|]/g, ' '))
  const rows = cells.flatMap((left, index) => (index % 2 === 0 ? [`| ${left} | ${cells[index + 1] ?? ''} |`] : []))
  return ['| | |', '|-|-|', ...rows].join('\n')
}

/** Of the elements only images can be shown; the others are to be clicked. */
function elementText(element: Fields, at: string): string {
  if (textAt(element.type, `${at}type`) !== 'image') return ''
  const { alt, url } = imageLink(element, at)
  return `[${alt}](${url})`
}

function imageLink({ image_url, alt_text }: Fields, at: string) {
  return { url: urlAt(image_url, `${at}image_url`), alt: textAt(alt_text, `${at}alt_text`) }
}

function textObject(value: unknown, place: string, types: readonly string[] = ['plain_text', 'mrkdwn']): string {
  const { type, text } = objectAt(value, place)
  wordAt(type, `${place}.type`, types)
  return textAt(text, `${place}.text`)
}

// --- attachments --------------------------------------------------------------------------------------------------

function attachmentText(attachment: Fields, at: string): string {
  const text = (name: string) => (attachment[name] ? textAt(attachment[name], `${at}${name}`) : '')
  const title = text('title')
  const link = title && attachment.title_link ? urlAt(attachment.title_link, `${at}title_link`) : ''
  const image = attachment.image_url ? `[](${urlAt(attachment.image_url, `${at}image_url`)})` : ''
  const fields = 'fields' in attachment ? listAt(attachment.fields, `${at}fields`) : []
  return joinPieces([
    title && (link ? `## [${title}](${link})` : `## ${title}`),
    text('pretext'),
    text('text'),
    fields
      .map((field, index) => attachmentField(objectAt(field, `${at}fields[${index}]`), `${at}fields[${index}].`))
      .join('\n'),
    ...renderPieces(attachment, 'blocks', at, blockText),
    image,
    text('footer'),
    attachment.ts ? `<time:${secondsAt(attachment.ts, `${at}ts`)}>` : '',
  ])
}

function attachmentField({ title, value }: Fields, at: string): string {
  const name = title ? `*${textAt(title, `${at}title`)}*` : ''
  const shown = value ? textAt(value, `${at}value`) : ''
  return name && shown ? `${name}: ${shown}` : name || shown
}

// --- values -------------------------------------------------------------------------------------------------------

function wrong(place: string, what: string) {
  return invalid('payload', place === '' ? `must be ${what}` : `${place} must be ${what}`)
}

function objectAt(value: unknown, place: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(place, 'an object')
  return value as Fields
}

function listAt(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(place, 'a list')
  return value
}

function textAt(value: unknown, place: string): string {
  if (typeof value !== 'string') throw wrong(place, 'a text')
  return value
}

function wordAt(value: unknown, place: string, words: readonly string[]): string {
  if (typeof value !== 'string' || !words.includes(value)) throw wrong(place, `one of ${words.join(', ')}`)
  return value
}

function urlAt(value: unknown, place: string): string {
  if (typeof value !== 'string' || !/^(?:https?|ftps?):\/\/[^\s/]/.test(value)) throw wrong(place, 'a URL')
  return value
}

/** UNIX seconds; some senders have them as a text, with a fraction. */
function secondsAt(value: unknown, place: string): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Math.trunc(Number(value)) : value
  if (!Number.isSafeInteger(number)) throw wrong(place, 'a time in seconds')
  return number as number
}
