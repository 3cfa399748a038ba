// A switch between the daemon's own world and its spaces.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { set } from '../parts/basics.tsx'
import { callControl, isControlled, site, tokenFor } from '../session.ts'

export interface Space {
  readonly name: string
  readonly url: string
  readonly control_token?: string
  /** The defect that ended it. */
  readonly ended?: string | null
}

/** The daemon that this world is a space of, or the daemon itself. */
const daemon = site.replace(/\/spaces\/[^/]+$/, '')
const own = site === daemon ? undefined : decodeURIComponent(site.slice(site.lastIndexOf('/') + 1))

/** Opens a world in this tab, with its token in the fragment. */
export function openSpace({ url, control_token }: Pick<Space, 'url' | 'control_token'>): void {
  location.href = `${url.replace(/\/$/, '')}/${control_token ? `#token=${control_token}` : ''}`
}

export function SpaceSwitch() {
  const spaces = useSignal<readonly Space[]>([])
  useEffect(() => {
    // A space knows nothing of the others. The daemon does, if this tab has seen its token.
    const token = tokenFor(daemon)
    if (!isControlled.value || token === undefined) return
    void callControl(daemon, token, 'GET', '/spaces').then(
      reply => set(spaces, reply.spaces ?? []),
      // A daemon that does not answer: there is nothing to switch to.
      () => {},
    )
  }, [isControlled.value])
  if (spaces.value.length === 0 && own === undefined) return null
  return (
    <select
      class="input"
      aria-label="World"
      value={own ?? ''}
      onChange={event => {
        const { value } = event.currentTarget
        const chosen = spaces.value.find(({ name }) => name === value)
        if (value === '') openSpace({ url: daemon })
        else if (chosen) openSpace(chosen)
      }}
    >
      <option value="">main world</option>
      {own !== undefined && !spaces.value.some(({ name }) => name === own) && <option value={own}>{own}</option>}
      {spaces.value.map(({ name, ended }) => (
        <option key={name} value={name} disabled={Boolean(ended)}>
          {ended ? `${name} (ended)` : name}
        </option>
      ))}
    </select>
  )
}
