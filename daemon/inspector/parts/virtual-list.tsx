// A long list of rows of one height, of which only those in sight are in the document. Follows its end until someone
// scrolls up.

import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { set } from './basics.tsx'

interface Props<T> {
  readonly label: string
  readonly items: readonly T[]
  readonly row: (item: T) => ComponentChildren
  readonly selected: number | undefined
  readonly onSelect: (item: T) => void
  readonly empty: string
}

/** Rows beyond the edges, so that fast scrolling shows no gaps. */
const spare = 12

const narrow = matchMedia('(max-width: 720px)')
const rowHeight = signal(narrow.matches ? 52 : 30)
narrow.addEventListener('change', () => set(rowHeight, narrow.matches ? 52 : 30))

export function VirtualList<T extends { readonly key: number }>({
  label,
  items,
  row,
  selected,
  onSelect,
  empty,
}: Props<T>) {
  const box = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSignal(600)
  const following = useSignal(true)
  const unit = rowHeight.value

  useEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => set(height, element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (following.peek()) box.current!.scrollTop = items.length * unit
  }, [items, unit])

  // A browser reports scrolling in its next frame, when the list may be gone from the page.
  const onScroll = ({ currentTarget: element }: { currentTarget: HTMLElement }) => {
    top.value = element.scrollTop
    following.value = element.scrollTop + element.clientHeight >= items.length * unit - unit
  }
  const first = Math.max(0, Math.floor(top.value / unit) - spare)
  const last = Math.min(items.length, Math.ceil((top.value + height.value) / unit) + spare)
  const shown = useMemo(() => items.slice(first, last), [items, first, last])

  /** j, k and the arrow keys move the selection, wherever the focus is in the view. */
  useEffect(() => {
    const move = (event: Event) => {
      const step = (event as CustomEvent<number>).detail
      const at = items.findIndex(({ key }) => key === selected)
      const next = items[at < 0 ? items.length - 1 : Math.min(items.length - 1, Math.max(0, at + step))]
      if (!next) return
      onSelect(next)
      const y = items.indexOf(next) * unit
      const element = box.current!
      if (y < element.scrollTop) element.scrollTop = y
      else if (y + unit > element.scrollTop + element.clientHeight) element.scrollTop = y + unit - element.clientHeight
    }
    addEventListener('natter:move', move)
    return () => removeEventListener('natter:move', move)
  }, [items, selected, unit])

  return (
    <div class="virtual">
      <div class="virtual-box" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
        {items.length === 0 ? (
          <p class="empty">{empty}</p>
        ) : (
          <ul class="virtual-rows" style={{ height: `${items.length * unit}px` }}>
            {shown.map((item, index) => {
              const { key } = item
              return (
                <li
                  key={key}
                  style={{ transform: `translateY(${(first + index) * unit}px)`, height: `${unit}px` }}
                  aria-setsize={items.length}
                  aria-posinset={first + index + 1}
                >
                  <button
                    type="button"
                    class="row"
                    aria-pressed={key === selected}
                    onClick={() => onSelect(item)}
                    data-id={key}
                  >
                    {row(item)}
                  </button>
                </li>
              )
            })}
          </ul>
        )}
      </div>
      {!following.value && (
        <button
          type="button"
          class="to-end"
          onClick={() => {
            following.value = true
            box.current!.scrollTop = items.length * unit
          }}
        >
          Follow the newest
        </button>
      )}
    </div>
  )
}
