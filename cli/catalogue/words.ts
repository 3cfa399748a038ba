// The first words of all subcommands.

import { catalogue, type Page } from '../../daemon/api/index.ts'
import { extras } from '../commands/index.ts'

export function allWords(): string[] {
  return [
    ...Object.values<Page>(catalogue).flatMap(page => page.words),
    ...Object.keys(extras).filter(word => !word.startsWith('_')),
    'help',
  ]
}
