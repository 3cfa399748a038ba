// The table of contents of both catalogues, and the first words of all subcommands.

import { controlPages } from '../../daemon/api/control.ts'
import type { Page } from '../../daemon/api/define.ts'
import { catalogue } from '../../daemon/api/index.ts'
import type { SubcommandTable } from '../base/subcommand.ts'

/** The pages of the API, then those of the control plane. */
export function allPages(): Page[] {
  return [...Object.values(catalogue), ...Object.values(controlPages)]
}

export function allWords(table: SubcommandTable): string[] {
  const others = Object.keys(table).filter(word => !word.startsWith('_'))
  return [...new Set([...allPages().flatMap(page => page.words), ...others]), 'help']
}
