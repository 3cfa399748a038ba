// Makes the data files that hold facts of other projects: names and codes, no sentences and no code. Run it by hand when one of
// the sources has a new release; data/README.md says which sources, and which releases the files were made from.
//   npx tsx data/make.ts SERVER HIGHLIGHTER DOMAINS ZONES TLDS

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [server, highlighter, domains, zones, tlds] = process.argv.slice(2)
if (!server || !highlighter || !domains || !zones || !tlds) {
  process.stderr.write('usage: npx tsx data/make.ts SERVER HIGHLIGHTER DOMAINS ZONES TLDS (see data/README.md)\n')
  process.exit(2)
}

/** Module, name and words of a lexer. */
const lexerRow = /^ {4}'\w+': \((['"])[^'"]+\1, (['"])(.+?)\2, \(([^)]*)\)/gm

write('emoji', readEmoji(join(server, 'tools/setup/emoji/emoji_names.py')))
write('notification-sounds', readSounds(join(server, 'static/audio/notification_sounds')))
write('collapsed-events', readCollapsed(join(server, 'zerver/tornado/event_queue.py')))
write('time-zones', {
  ...readZones(zones),
  abbreviations: readAbbreviations(join(server, 'zerver/lib/timezone.py')),
})
write('languages', readLanguages(join(highlighter, 'pygments/lexers/_mapping.py')))
write('top-level-domains', readTopLevelDomains(tlds))
write(
  'disposable-domains',
  readDomains(join(domains, 'disposable_email_blocklist.conf'), join(server, 'zerver/lib/name_restrictions.py')),
)

write('integrations', readIntegrations(join(server, 'zerver/lib/integrations.py')))
write('permission-settings', readPermissions(join(server, 'zerver/models')))

/** Code of each emoji → its names, the canonical one first. */
function readEmoji(file: string): Record<string, string> {
  const rows = [
    ...readText(file).matchAll(/"([0-9a-f-]+)": \{\s*"canonical_name": "([^"]+)",\s*"aliases": \[([^\]]*)\]/g),
  ]
  return Object.fromEntries(rows.map(([, code, name, aliases]) => [code, [name, ...quoted(aliases!)].join(' ')]))
}

function readSounds(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.ogg'))
    .map(name => name.slice(0, -'.ogg'.length))
    .sort()
}

/** The type of the events that a queue joins while nobody reads it, and those of its kinds (operation and flag) that it does not join. */
function readCollapsed(file: string): { type: string; except: string[] } {
  const source = readText(file)
  const type = /event\["type"\] == "(\w+)":\s*if event\["all"\]/.exec(source)![1]!
  const except = [...source.matchAll(/not full_event_type\.startswith\(\s*"flags\/([\w/]+)"/g)].map(([, kind]) => kind!)
  return { type, except }
}

/** Names of the incoming webhooks, which a bot is made for. */
function readIntegrations(file: string): string[] {
  const names = [...readText(file).matchAll(/WebhookIntegration\(\s*"(\w+)"/g)].map(([, name]) => name!)
  return [...new Set(names)].sort()
}

/** The names in use, and the old ones with the name that replaced each. */
function readZones(file: string): { zones: string; links: Record<string, string> } {
  const current: string[] = []
  const links: Record<string, string> = {}
  for (const [kind, first, second] of readText(file)
    .split('\n')
    .map(line => line.split(' '))) {
    if (kind === 'Z' && first !== 'Factory') current.push(first!)
    if (kind === 'L') links[second!] = first!
  }
  return { zones: current.sort().join(' '), links }
}

/** Seconds east of UTC, for abbreviations that people write in times. */
function readAbbreviations(file: string): Record<string, number> {
  const rows = readText(file).matchAll(/"(\w+)": ([+-]?\d+),/g)
  return Object.fromEntries([...rows].map(([, name, seconds]) => [name, Number(seconds)]))
}

/** What the highlighter calls a language → the words for it after a fence. */
function readLanguages(file: string): Record<string, string> {
  const languages: Record<string, string> = {}
  // Of two lexers that claim a word, the earlier one has it.
  const taken = new Set<string>()
  for (const [, , , name, list] of readText(file).matchAll(lexerRow)) {
    const words = quoted(list!).filter(word => !taken.has(word))
    for (const word of words) taken.add(word)
    if (words.length > 0) languages[name!] = [languages[name!], ...words].filter(Boolean).join(' ')
  }
  return languages
}

/** Providers of addresses that are made to be thrown away, without those that the public server allows. */
function readDomains(list: string, exceptions: string): string {
  const allowed = new Set(quoted(/OVERRIDE_ALLOW_EMAIL_DOMAINS = \{([^}]*)\}/.exec(readText(exceptions))![1]!))
  return readText(list)
    .split('\n')
    .filter(domain => domain !== '' && !allowed.has(domain))
    .join(' ')
}

/** Without those that are endings of file names more often: `setup.py` is no address. */
function readTopLevelDomains(file: string): string {
  const fileEndings = ['java', 'md', 'mov', 'py', 'zip']
  return (JSON.parse(readText(file)) as string[]).filter(name => !fileEndings.includes(name)).join(' ')
}

/** Settings whose value is a group of users: which system groups each takes, and the one it starts with. */
function readPermissions(folder: string): Record<string, Record<string, object>> {
  const groups = readText(join(folder, 'groups.py'))
  const names = new Map([...groups.matchAll(/^ {4}([A-Z_]+) = "(role:\w+)"/gm)].map(([, key, name]) => [key!, name!]))
  const group = (text: string) => /"(\w+)"/.exec(text)?.[1] ?? names.get(/SystemGroups\.(\w+)/.exec(text)![1]!)!
  const settings = (file: string) =>
    Object.fromEntries(
      [...readText(join(folder, file)).matchAll(/"?(\w+)"?[:=] ?GroupPermissionSetting\(\n([\s\S]*?)\n {8}\)/g)].map(
        ([, name, body]) => {
          const allowed = /allowed_system_groups=\[([\s\S]*?)\]/.exec(body!)?.[1]
          return [
            name!,
            {
              nobody: body!.includes('allow_nobody_group=True'),
              everyone: body!.includes('allow_everyone_group=True'),
              default: group(/default_group_name=(.*),/.exec(body!)![1]!),
              ...(body!.includes('require_system_group=True') && { systemOnly: true }),
              ...(allowed && { allowed: [...allowed.matchAll(/SystemGroups\.\w+/g)].map(([one]) => group(one)) }),
            },
          ]
        },
      ),
    )
  return { realm: settings('realms.py'), stream: settings('streams.py'), group: settings('groups.py') }
}

function quoted(text: string): string[] {
  return [...text.matchAll(/['"]([^'"]+)['"]/g)].map(([, word]) => word!)
}

function readText(file: string): string {
  return readFileSync(file, 'utf8')
}

/** One entry a line, so that a new release shows what it changed. */
function write(name: string, data: object): void {
  writeFileSync(new URL(`${name}.json`, import.meta.url), `${JSON.stringify(data, null, 2)}\n`)
}
