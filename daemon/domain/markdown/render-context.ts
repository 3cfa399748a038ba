// The interface of the renderer: questions about names in a text, and findings about the text.

import type { Behaviours } from '../../api/levels/behaviours.ts'
import { limits } from '../limits.ts'
import type { Emoji } from '../model/rows/people.ts'
import type { Linkifier } from './organization-content.ts'
import type { Pairs } from './pairs.ts'

export interface RenderContext {
  user(name: string, id: number | undefined): Mentioned | undefined
  group(name: string): Mentioned | undefined
  /** Only channels that the author has access to. */
  channel(name: string): { readonly id: number; readonly name: string } | undefined
  /** The newest message of a topic that the author can see. */
  latestMessage(channelId: number, topic: string): number | undefined
  emoji(name: string): Emoji | undefined
  upload(path: string): Upload | undefined
  readonly linkifiers: readonly Linkifier[]
  /** Descriptions have no mentions. */
  readonly mentions: boolean
  readonly emoticons: boolean
  readonly imagePreviews: boolean
  /** For code blocks that name none; may be empty. */
  readonly codeLanguage: string
  /** Where clients reach the daemon: links there become relative. */
  readonly ownUrl: string
  /** What the level of the author's client brings; nothing of newer levels without it. */
  readonly rules?: Behaviours | undefined
}

export interface Mentioned {
  readonly id: number
  readonly name: string
  /** Deactivated: the mention notifies no one. */
  readonly silent: boolean
}

export interface Upload {
  readonly contentType: string
  readonly width?: number
  readonly height?: number
}

/** Gathered while rendering. Silent mentions and those in code or quotes are not among them. */
export class Findings {
  /** Characters of HTML that the text may become. */
  readonly largest: number
  readonly users = new Set<number>()
  readonly groups = new Set<number>()
  channelWildcard = false
  topicWildcard = false
  hasLink = false
  hasImage = false
  /** How many were found so far. */
  emoji = 0
  /** Of all tables so far. */
  tableCells = 0
  /** Of all formulas so far; one without cells counts as one. */
  formulaCells = 0
  /** Of the source of all formulas so far. */
  formulaCharacters = 0
  /** Characters of the HTML of all formulas so far. */
  formulaHtml = 0
  /** Paths of the files that the text links. */
  readonly uploads = new Set<string>()
  readonly channels = new Set<number>()
  readonly messages = new Set<number>()

  constructor(largest: number = limits.renderedContent) {
    this.largest = largest
  }
}

/** Travels with markdown-it's states. */
export interface Env {
  [key: string | symbol]: unknown
  readonly context: RenderContext
  readonly findings: Findings
  /** Inside a quote, where mentions are silent and links have no previews. */
  quoted: boolean
  /** Inside the text of a link, where no other link may start. */
  linked: boolean
  /** Of the text of the block that is being read. */
  pairs?: Pairs
}
