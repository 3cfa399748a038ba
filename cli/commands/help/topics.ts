// Help on what is not a subcommand: `natter help exit-codes`.

import type { SubcommandTable } from '../../base/subcommand.ts'

interface Topic {
  readonly about: string
  text(table: SubcommandTable): string | Promise<string>
}

export const topics: Readonly<Record<string, Topic>> = {
  all: {
    about: 'every noun',
    text: async table => (await import('./tables.ts')).everyNoun(table),
  },
  flags: {
    about: 'the flags of every subcommand',
    text: async () => (await import('./tables.ts')).everyFlag(),
  },
  cheats: {
    about: 'recipes to copy',
    text: async () => (await import('./cheats.ts')).cheats(),
  },
  scripts: {
    about: 'what a script can rely on, and when it needs --yes',
    text: async () => (await import('./tables.ts')).forScripts(),
  },
  'exit-codes': {
    about: 'the exit codes of natter',
    text: () => `Exit codes, with and without --json:

  0    done; also if the reader of the output stops early
  1    refused by the API, or failed in another way; also of a --batch of which
       a call failed, for whatever reason
  2    wrong usage: an unknown subcommand or flag, an invalid value, a file that
       you name and that cannot be read, or one that would be replaced
  3    not found: a thing, a name, or a daemon that is not running
  4    not authenticated, or not permitted
  6    the daemon cannot be reached
  7    rate limited, after the retries that --retry allows
  8    timed out, or a condition was not met
  126  exec: the command cannot be run
  127  exec: there is no such command
  129  tail: the terminal was closed (SIGHUP)
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)

\`natter exec\` exits with the code of the command it ran.

With --json an error is one line on stderr:
  {"error":{"code":"BAD_REQUEST","msg":"…","http":400,"exit":1}}
and "hint", if there is something to do about it.
`,
  },
  environment: {
    about: 'how natter finds the server and the account',
    text: () => `Each value comes from the first of these sources that has it:

  1. flags           --site --user --api-key, --ready-file FILE
                     or --profile NAME
  2. environment     NATTER_SITE NATTER_EMAIL NATTER_API_KEY
                     NATTER_READY_FILE, a ready file
                     ZULIP_SITE ZULIP_EMAIL ZULIP_API_KEY
  3. profile         the current one, or NATTER_PROFILE, of profiles.json
  4. zuliprc         ZULIP_CONFIG, ~/.zuliprc, ~/zuliprc, ./zuliprc

A key is used only for the site and the account it was saved with.

--as amy acts as any account of a daemon that was started with --memory or
--control. It needs the token of the control plane: from --control-token,
NATTER_CONTROL_TOKEN, the ready file, or a profile of the same site.
\`eval "$(natter env ready.json)"\` sets all of these variables.

  NATTER_CONFIG_DIR  folder of profiles.json and config.json; otherwise
                     $XDG_CONFIG_HOME/natter or ~/.config/natter
  NATTER_TIMEOUT     and NATTER_RETRY, NATTER_COLOR, NATTER_QUIET: as the flags;
                     see natter help config
  NATTER_DATA        folder of the daemon's store; otherwise
                     $XDG_DATA_HOME/natter/store or ~/.local/share/natter/store;
                     memory in place of store for the log with --memory
  NATTER_READ_ONLY   1: refuse every call that changes something
  NATTER_PASSWORD    used instead of a password prompt
  NO_COLOR           no colors, unless --color always
  NATTER_DEBUG       print the stack trace of an unexpected error

\`natter daemon start\` writes the profile \`local\`, so the next subcommand needs
no setup.
`,
  },
  config: {
    about: 'the config file',
    text: () => `The config file sets flags that you would give each time. It is config.json in
the folder of profiles.json: $NATTER_CONFIG_DIR, $XDG_CONFIG_HOME/natter or
~/.config/natter. NATTER_CONFIG names another file.

  {
    "timeout": "30s",
    "color": "never",
    "daemon": { "port": 9992, "log-level": "info" }
  }

A key is the name of a flag. A flag wins over the environment, and the
environment over the file:

  flag          variable         key
  --profile     NATTER_PROFILE   "profile"
  --timeout     NATTER_TIMEOUT   "timeout"
  --retry       NATTER_RETRY     "retry"
  --color       NATTER_COLOR     "color"
  --quiet       NATTER_QUIET     "quiet"
  natterd --X   NATTER_X         "daemon": { "X": … }

"daemon" has the flags of natterd, which natter daemon start --help lists.
Accounts and keys are in profiles.json, which natter login and natter profile
write. natter config explain shows what counts and where it comes from.
`,
  },
  narrow: {
    about: 'how to select messages',
    text: () => `A narrow is a list of terms that must all match. As words, with quotes around
spaces:

  channel:general topic:"release notes" sender:amy@example.com -is:starred

or as JSON pairs or objects, as in the API:

  [["channel","general"],{"operator":"is","operand":"starred","negated":true}]

  channel   a channel's name or ID          topic     a topic, in any case
  sender    an email address or user ID     dm        people of a direct
                                                      conversation, by email
  is        dm starred unread mentioned alerted followed resolved muted
  has       attachment image link reaction  in        home all
  channels  public web-public               search    words of the text
  id near with   a message's ID             dm-including  anyone in a direct
                                                          conversation

A minus negates a term.

A narrow of natter tail and natter wait can have only channel, topic, sender
and is (dm, starred, unread, mentioned, alerted or resolved), and no minus.
Their flags --channel, --topic, --sender, --dm and --mentions do the same;
--sender and --dm also take a first name.
`,
  },
}
