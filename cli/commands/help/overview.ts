// The help of the program itself: one screen with what people look for first. It must work before any parser or page is loaded.

/** Fits a terminal of 80 columns and 30 lines. */
export function programHelp(): string {
  return `natter: team chat from the command line

Usage: natter <noun> [verb] [arguments] [flags]

Get a server:
  natter daemon start --preset dev       on this machine, with people to try
  natter exec -- npm test                just for one command, in memory
  natter login SITE EMAIL                use one that runs elsewhere

Chat:
  natter send '#general>lunch' 'Pizza?'  to a channel; or: natter send amy Hi
  natter messages list -n 5              list the latest messages
  natter search pizza                    find messages
  natter tail                            print messages as they arrive
  natter channels list                   also users, topics, groups, reactions …

Test a bot or a client, with natter daemon start --memory --preset dev:
  natter wait --match done --within 5s   wait for a message; exit code 8 if none
  natter send '#general>x' Hi --as amy   act as any account
  natter clock advance 1h                also reset, faults, requests, events
  natter open                            watch it all in a browser

Learn more:
  natter help send                       one subcommand: its flags and examples
  natter help all                        every noun; natter commands: every verb
  natter help flags                      flags of most subcommands: --json, --jq
  natter help cheats                     recipes to copy
  natter help environment                and scripts, config, exit-codes, narrow
`
}
