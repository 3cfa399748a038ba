// The part of an endpoint that is for the command line: subcommand, arguments, flags and sentences.

export interface CliForm {
  /** The subcommand, e.g. `snippets create`. */
  readonly name: string
  /** Params taken as positional arguments, in this order; the rest are flags. By default those of the path and those that are required. */
  readonly args?: readonly string[]
  /** Shorter flag names: param to flag, e.g. `{ stream_id: 'channel' }`. */
  readonly flags?: Readonly<Record<string, string>>
  /**
   * What to report on success. If the reply has something to print, the report takes its place on a terminal, and scripts get
   * the reply. `{param}` is filled in as it was given, and `{field}` from the reply.
   */
  readonly done?: string
  /** Lines to copy, beginning with `natter `. */
  readonly examples: readonly [string, string, ...string[]]
  /** The reply field that holds the list or record people want to see. By default, of a GET, the only one. */
  readonly shows?: string
  /** Of a list, of a record, or of a reply without `shows`, the fields that people want, the most important first; all if omitted. */
  readonly columns?: readonly string[]
  /** What to assume for params that are not given, as people would give it, where the API has another default. */
  readonly defaults?: Readonly<Record<string, boolean | string | readonly string[]>>
  /** The param with names of existing channels; a misspelt name gets a suggestion. */
  readonly channels?: string
  /** The param with names of channels that the call creates if they do not exist. */
  readonly creates?: string
  /** Which sentences to print instead of the reply. */
  readonly says?: 'subscribed' | 'unsubscribed' | 'topic-deleted' | 'people' | 'explanation' | 'difference'
  /** The param that gets links to the files of `--file`, which are uploaded first. */
  readonly files?: string
  /** The noun alone means this subcommand. */
  readonly alone?: true
  /** Entries of a log, one line each, or one in full. `--follow` sends the field of the last reply in the param, and waits. */
  readonly log?: {
    readonly of: 'calls' | 'events'
    readonly follow?: { readonly field: string; readonly param: string }
  }
  /** Lists messages: without an anchor the newest, with flags for channel, topic, sender and words. */
  readonly history?: true
  /** The param that holds a draft, or a list of them; people write a draft as they write a message, in these words. */
  readonly draft?: { readonly param: string; readonly summary?: string; readonly args: readonly string[] }
  /** Asked at a terminal before it is done; needs --yes elsewhere, and for a batch. `{param}` is filled in as it was given. */
  readonly destroys?: {
    readonly question: string
    /** One at a time, scripts need no --yes; or it is asked only if the daemon keeps its store on disk. */
    readonly when?: 'typed' | 'kept'
  }
  /**
   * What is counted before the call, for `{count}` in `done` and in a question: the messages of a topic, which must exist, or those that
   * move with a message.
   */
  readonly counts?: 'topic' | 'moved'
  /** The param with IDs of messages, of which the server skips those that it does not find. */
  readonly skips?: string
  /** The note if the field that is shown is null or empty. */
  readonly none?: string
  /** Below the site, the address of what is deleted. Profiles saved for it are removed. */
  readonly forgets?: string
  /** The column that has the ID of a channel or those of users, by the row's `type`. People are shown names. */
  readonly recipients?: string
  /** The answer is a file, printed as it comes. */
  readonly raw?: true
  /** How long an answer may take, in milliseconds, where that is longer than usual. */
  readonly timeout?: number
  /** The reply has `met`; when it is false, this is printed and the exit code is 8. */
  readonly unmet?: string
  /** More names, each for one use of an endpoint that can do more. */
  readonly shortcuts?: readonly Shortcut[]
}

/** `messages move` changes a message, but only its place. */
export interface Shortcut {
  readonly summary: string
  /** The params that can be given. */
  readonly params: readonly string[]
  readonly cli: Omit<CliForm, 'shortcuts'>
  /** The params that the name itself sets. */
  readonly sets?: Readonly<Record<string, string>>
  /** Flags that set params. */
  readonly switches?: readonly {
    readonly name: string
    readonly about: string
    readonly sets: Readonly<Record<string, string>>
  }[]
}
