// Help on what is not a subcommand: `natter help exit-codes`.

interface Topic {
  readonly about: string
  readonly text: string
}

export const topics: Readonly<Record<string, Topic>> = {
  'exit-codes': {
    about: 'what the exit code of natter says',
    text: `Exit codes, the same with and without --json:

  0    done; also when the reader of the output went away
  1    refused by the API, or failed in another way
  2    wrong usage: an unknown subcommand or flag, a value that does not fit
  3    not found: a thing, a name, a daemon that does not run
  4    not authenticated, or not permitted
  6    the daemon cannot be reached
  7    rate limited, after as many tries as --retry allows
  8    time is up, or a condition was not met
  130  interrupted (^C)
  143  told to end (SIGTERM)

\`natter exec\` ends with the code of the command it ran.

With --json an error is one line on stderr:
  {"error":{"code":"BAD_REQUEST","msg":"…","http":400,"exit":1}}
`,
  },
  environment: {
    about: 'where natter finds the server and the account',
    text: `A value is taken from the first place that has it:

  1. flags           --site --user --api-key, or --profile NAME
  2. environment     NATTER_SITE NATTER_EMAIL NATTER_API_KEY
                     ZULIP_SITE ZULIP_EMAIL ZULIP_API_KEY
  3. profile         the current one, or NATTER_PROFILE, of profiles.json
  4. zuliprc         ZULIP_CONFIG, ./zuliprc, ~/.zuliprc, ~/zuliprc

A key is used only for the site and the account it stands with.

  NATTER_CONFIG_DIR  folder of profiles.json; otherwise $XDG_CONFIG_HOME/natter or ~/.config/natter
  NATTER_DATA        folder of the daemon's store; otherwise $XDG_DATA_HOME/natter/store
                     or ~/.local/share/natter/store
  NATTER_PASSWORD    answer to every question for a password
  NO_COLOR           no colours, unless --color always
  NATTER_DEBUG       print the stack of an unexpected error

\`natter daemon start\` writes the profile \`local\`, so the next subcommand needs none of this.
`,
  },
  narrow: {
    about: 'how to say which messages are meant',
    text: `A narrow is a list of terms that must all hold. As words, with quotes where there are spaces:

  channel:general topic:"release notes" sender:amy@example.com -is:starred

or as the API takes it, pairs or objects in JSON:

  [["channel","general"],{"operator":"is","operand":"starred","negated":true}]

  channel   a channel's name or ID          topic     a topic, in any case
  sender    an email address or user ID     dm        people of a direct conversation, by email
  is        dm starred unread mentioned alerted followed resolved muted
  has       attachment image link reaction  in        home all
  channels  public web-public               search    words of the text
  id near with   a message's ID             dm-including  anybody in a direct conversation

A minus negates a term. Live events (natter tail) can be narrowed only by channel, topic, sender and is:dm, starred, unread,
mentioned, alerted or resolved, and not by what they are not; --channel, --topic, --sender, --dm and --mentions of tail and
wait say the same with names looked up.
`,
  },
}
