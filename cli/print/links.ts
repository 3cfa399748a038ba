// `--fields link`: the link of a message, as the web app writes it.

import { type LinkedMessage, messageLink } from '../../daemon/api/links.ts'

/** The row with the link of its message; null where there is none. */
export function withLink<T extends object>(
  row: T,
  message: object | undefined,
  site: string | undefined,
): T & { link: string | null } {
  const [first] = (site ?? '').split(',', 1)
  return { ...row, link: message && first ? messageLink(first, message as LinkedMessage) : null }
}
