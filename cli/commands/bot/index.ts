// `natter bot run` and `natter bot new`: a bot as one function for each message.

import { accountFlags, formatFlags } from '../../base/globals.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'bot run',
    about: 'Run a bot: call a function of yours with each message for it',
    args: [{ name: 'file', about: 'a file in TypeScript or JavaScript whose default export is the function' }],
    flags: [
      { name: 'all', about: 'call it with every message that the bot can see, not only those for it' },
      { name: 'within', value: 'TIME', about: 'how long it may take for one message (default 30s)' },
      { name: 'count', value: 'N', about: 'stop after N messages' },
    ],
    globals: ['json', 'quiet', ...accountFlags, 'timeout', 'color', 'dry-run'],
    more: `The function gets the message and the bot: (message, bot) => text. A text that it returns is sent as the reply; bot.reply, bot.send,
bot.react, bot.storage and bot.request do more. Messages are handled one after the other. An error, or a function that does not
finish in time, is printed, and the next message is handled. The file is loaded again when you save it. What the function prints is on stderr. If bots answer each other
without end, this one stops in that conversation until a person mentions it there; in a direct message, or with --all, any message of a
person will do. With --dry-run nothing is sent: the transcript on stdout shows what would be. While the server is away, calls are made again for up to five minutes, in their order and with
idempotency keys. It works with any server of the API family.`,
    examples: [
      'natter bot run echo.ts --as echo-bot',
      'natter bot run echo.ts --dry-run',
      'natter bot run echo.ts --all --within 5s --json',
    ],
    run: async call => (await import('./run.ts')).runHandler(call),
  },
  {
    name: 'bot new',
    about: 'Write the files of a new bot: a function and a test for it',
    args: [{ name: 'name', about: 'what the files are called: echo gives echo.ts and echo.test.ts', optional: true }],
    flags: [{ name: 'js', about: 'write JavaScript instead of TypeScript' }],
    globals: [...formatFlags, 'quiet'],
    more: 'In a project whose package.json has "type": "commonjs", the files are called echo.mts and echo.test.mts, so that Node can run them.',
    examples: ['natter bot new', 'natter bot new weather --js'],
    run: async call => (await import('./new.ts')).writeBot(call),
  },
]
