// Descriptions and profile fields: texts without an author or a place, the same for all readers. One answer can show thousands of them, so
// each has less room than a message, and its HTML is kept as long as its row and everything that it was made of stay the same.

import type { Level } from '../../api/levels/level.ts'
import { limits } from '../limits.ts'
import { organizationSetting } from '../model/settings.ts'
import type { Channel, State } from '../model/state.ts'
import { emojiInText } from './emoji-names.ts'
import { plainHtml } from './html.ts'
import { LinkifierBudget } from './linkify.ts'
import { linkifiers } from './organization-content.ts'
import { isPlain, toHtml } from './parser.ts'
import { Findings, type RenderContext } from './render-context.ts'

interface Kept {
  readonly html: string
  readonly linkifiers: number
  readonly codeLanguage: string
  /** Whether what was asked about channels, topics and emoji still has the same answer. */
  readonly checks: Iterable<() => boolean>
}

/** By what the HTML depends on besides the row: the text, and the level of the readers. */
const kept = new WeakMap<object, Map<string, Kept>>()

/**
 * The HTML of a text of this row, without mentions and pictures.
 * OPEN: the public server gives descriptions as much room as messages; here one that becomes longer than 10,000 characters of HTML is shown
 * as plain text.
 */
export function renderDescription(state: State, row: object, source: string, level?: Level): string {
  // Most have no markup, and take less time than looking for what is kept.
  if (source === '') return ''
  if (isPlain(source) && state.linkifiers.size === 0) return plainHtml(source)
  // Only a file can bring one in. Its HTML would be too long as well.
  if (source.length > limits.renderedDescription) return plainHtml(source)
  let texts = kept.get(row)
  if (!texts) {
    texts = new Map()
    kept.set(row, texts)
  }
  const key = `${level?.number} ${source}`
  let known = texts.get(key)
  if (!known || !isCurrent(state, known)) {
    known = renderNow(state, source, level)
    texts.set(key, known)
  }
  return known.html
}

/** Characters of the texts that are not plain sentences. Those with formulas count 50 times: they take that much longer to render. */
export function countFormatted(texts: Iterable<string>): number {
  let count = 0
  for (const text of texts) if (!isPlain(text)) count += text.length * (mayHaveFormula.test(text) ? 50 : 1)
  return count
}

const mayHaveFormula = /\$\$|```|~~~/

function isCurrent(state: State, { linkifiers, codeLanguage, checks }: Kept): boolean {
  if (linkifiers !== state.linkifiers.version || codeLanguage !== defaultLanguage(state)) return false
  for (const isSame of checks) if (!isSame()) return false
  return true
}

function renderNow(state: State, source: string, level: Level | undefined): Kept {
  const common = commonContext(state)
  const checks = new Map<string, () => boolean>()
  /** Asks, and notes how to find out whether the answer has changed: it is told by one value. */
  const noting =
    <Args extends unknown[], Answer>(what: string, ask: (...args: Args) => Answer, told: (answer: Answer) => unknown) =>
    (...args: Args): Answer => {
      const answer = ask(...args)
      const before = told(answer)
      checks.set(JSON.stringify([what, ...args]), () => told(ask(...args)) === before)
      return answer
    }
  const context: RenderContext = {
    ...common,
    channel: noting('channel', common.channel, channel => channel?.id),
    latestMessage(channelId, topic) {
      const inTopic = () => state.messages.inTopic(channelId, topic)
      const id = inTopic().last || undefined
      // The link leads to the topic by any of its messages, so that a later one changes nothing.
      checks.set(`topic ${channelId} ${topic}`, () => (id ? inTopic().has(id) : inTopic().length === 0))
      return id
    },
    emoji: noting('emoji', common.emoji, emoji => emoji?.src ?? emoji?.code),
    rules: level?.rules,
  }
  const findings = new Findings(limits.renderedDescription)
  const html = toHtml(source, { context, findings, quoted: false, linked: false })
  return {
    html: html.length > limits.renderedDescription ? plainHtml(source) : html,
    linkifiers: state.linkifiers.version,
    codeLanguage: common.codeLanguage,
    checks: [...checks.values()],
  }
}

/** The same for all readers of the organization. Only public channels are links here, and everyone can read those. */
function commonContext(state: State): Omit<RenderContext, 'latestMessage'> {
  return {
    user: () => undefined,
    group: () => undefined,
    channel(name) {
      const channel = findChannel(state, name)
      return channel?.inviteOnly === false ? channel : undefined
    },
    upload: () => undefined,
    emoji: name => emojiInText(state, name),
    linkifiers: linkifiers(state, new LinkifierBudget(1_000_000, limits.renderedDescription)),
    mentions: false,
    emoticons: false,
    imagePreviews: false,
    codeLanguage: defaultLanguage(state),
    ownUrl: '',
  }
}

function defaultLanguage(state: State): string {
  return organizationSetting(state, 'default_code_block_language') ?? ''
}

/** Exactly as it is written: another case is no link. */
export function findChannel(state: State, name: string): Channel | undefined {
  const channel = state.channels.find('name', name.toLowerCase())
  return channel?.name === name ? channel : undefined
}
