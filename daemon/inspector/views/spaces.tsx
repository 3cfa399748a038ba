// Worlds beside this one: a switch between them, where the daemon has spaces.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { control, isControlled, site } from '../session.ts'

export interface Space {
  readonly name: string
  readonly url: string
  readonly control_token?: string
}

/** Opens a world in this tab, with its token in the fragment. */
export function openSpace({ url, control_token }: Space): void {
  location.href = `${url.replace(/\/$/, '')}/${control_token ? `#token=${control_token}` : ''}`
}

export function SpaceSwitch() {
  const spaces = useSignal<readonly Space[]>([])
  useEffect(() => {
    if (!isControlled.value) return
    void control('GET', '/spaces').then(
      reply => {
        spaces.value = reply.spaces ?? []
      },
      // An older daemon, or a space itself: there is nothing to switch to.
      () => {},
    )
  }, [isControlled.value])
  if (spaces.value.length === 0) return null
  return (
    <select
      class="input"
      aria-label="World"
      value=""
      onChange={event => {
        const chosen = spaces.value.find(({ name }) => name === event.currentTarget.value)
        if (chosen) openSpace(chosen)
      }}
    >
      <option value="">{site.split('/spaces/')[1] ?? 'main world'}</option>
      {spaces.value.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
