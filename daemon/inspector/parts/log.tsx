// A log that grows while it is watched: a filter, the rows in a virtual list, and the selected entry beside it.

import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { type Account, accounts } from '../session.ts'
import { Button, bind, set } from './basics.tsx'
import { Choice, IconButton } from './controls.tsx'
import { localPart } from './format.ts'
import { VirtualList } from './virtual-list.tsx'

/** What the person who looks wants to see. */
export interface Filter {
  /** In small letters; empty: everything. */
  readonly text: string
  readonly account: Account | undefined
  /** What the list beside the accounts says. */
  readonly choice: string
}

interface Props<T> {
  readonly title: string
  /** Names the columns in the style sheet. */
  readonly kind: 'events' | 'calls'
  readonly filterLabel: string
  readonly items: ReadonlySignal<readonly T[]>
  /** Entries that came too fast to show. */
  readonly skipped: number
  readonly clear: () => void
  readonly choice: { readonly label: string; readonly options: readonly (readonly [string, string])[] }
  /** The same function for each rendering: the filter runs again only when the entries or the filter change. */
  readonly matches: (item: T, filter: Filter) => boolean
  readonly columns: readonly string[]
  readonly row: (item: T) => ComponentChildren
  readonly empty: string
  readonly details: (item: T, close: () => void) => ComponentChildren
  readonly children?: ComponentChildren
}

export function Log<T extends { readonly key: number }>(props: Props<T>) {
  const { title, kind, filterLabel, items, skipped, choice, matches } = props
  const text = useSignal('')
  const user = useSignal('')
  const chosen = useSignal(choice.options[0]![0])
  const key = useSignal<number | undefined>(undefined)
  const found = useComputed(() => {
    const account = accounts.value.find(({ email }) => email === user.value)
    const filter = { text: text.value.trim().toLowerCase(), account, choice: chosen.value }
    return items.value.filter(item => matches(item, filter))
  })
  const selected = key.value === undefined ? undefined : items.value.find(item => item.key === key.value)
  return (
    <div class="log" data-opened={selected !== undefined}>
      <div class="log-main">
        <header class="toolbar">
          <h1>{title}</h1>
          <input
            class="input grow"
            type="search"
            data-slash
            placeholder={filterLabel}
            aria-label={filterLabel}
            {...bind(text)}
          />
          <Choice
            label="Account"
            chosen={user}
            options={[['', 'all accounts'], ...accounts.value.map(({ email }) => [email, localPart(email)] as const)]}
          />
          <Choice label={choice.label} chosen={chosen} options={choice.options} />
          <Button onClick={props.clear}>Clear</Button>
          <span class="faint amount">
            {found.value.length.toLocaleString()} of {items.value.length.toLocaleString()}
            {skipped > 0 && `, ${skipped.toLocaleString()} came too fast to show`}
          </span>
        </header>
        <div class={`columns ${kind}-columns`} aria-hidden="true">
          {props.columns.map(name => (
            <span key={name}>{name}</span>
          ))}
        </div>
        <VirtualList
          label={title}
          items={found.value}
          selected={key.value}
          onSelect={item => set(key, item.key)}
          row={props.row}
          empty={props.empty}
        />
        {props.children}
      </div>
      {selected && props.details(selected, () => set(key, undefined))}
    </div>
  )
}

interface DetailsProps {
  readonly label: string
  readonly title: ComponentChildren
  readonly close: () => void
  readonly children: ComponentChildren
}

/** The selected entry. */
export function Details({ label, title, close, children }: DetailsProps) {
  return (
    <aside class="details" aria-label={label}>
      <header class="toolbar">
        <h2 class="wrap">{title}</h2>
        <IconButton icon="close" label="Close" onClick={close} />
      </header>
      {children}
    </aside>
  )
}

/** Names and values; what is empty is left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
