// Slash commands: short ways to a setting.

import { userSetting } from '../../model/settings.ts'
import { inQuotes, invalid } from '../../refusal.ts'
import type { Context } from '../../resource.ts'

const commands = {
  dark: { setting: 'color_scheme', value: 2, name: 'dark theme', back: 'light' },
  light: { setting: 'color_scheme', value: 3, name: 'light theme', back: 'dark' },
  'fluid-width': { setting: 'fluid_layout_width', value: true, name: 'fluid-width mode', back: 'fixed-width' },
  'fixed-width': { setting: 'fluid_layout_width', value: false, name: 'fixed-width mode', back: 'fluid-width' },
} as const

/** The settings that the command changes, and what to tell its user. */
export function commandChanges(
  { actor }: Context,
  command: string,
): { changes: Record<string, unknown>; msg?: string } {
  if (!command.startsWith('/')) throw invalid('command', 'must begin with a slash')
  const word = command.slice(1)
  if (word === 'ping') return { changes: {} }
  if (!Object.hasOwn(commands, word)) throw invalid('command', `there is no command ${inQuotes(word)}`)
  const { setting, value, name, back } = commands[word as keyof typeof commands]
  if (userSetting(actor, setting) === value) return { changes: {}, msg: `You are still in ${name.replace('-', ' ')}.` }
  return { changes: { [setting]: value }, msg: `Changed to ${name}! To revert ${name}, type \`/${back}\`.` }
}
