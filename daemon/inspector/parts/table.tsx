// A table that scrolls by itself where the page is too narrow for it.

import type { ComponentChildren } from 'preact'

export function Table({
  label,
  heads,
  numbers = [],
  children,
}: {
  label: string
  heads: readonly string[]
  /** Those of the heads whose columns hold numbers. */
  numbers?: readonly string[]
  children: ComponentChildren
}) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map(head => (
              <th key={head} scope="col" class={numbers.includes(head) ? 'number' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
