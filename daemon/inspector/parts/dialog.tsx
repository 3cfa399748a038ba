// A dialog of the browser's own: it keeps the focus inside, and Escape closes it.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from './controls.tsx'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, children }: Props) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!box.current!.open) box.current!.showModal()
  }, [])
  return (
    <dialog ref={box} class="dialog" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <IconButton icon="close" label="Close" onClick={() => box.current!.close()} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
