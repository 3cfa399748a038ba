// The inspector, a page for looking at a daemon from the inside: session, shell and the six views.

import { computed, effect, signal } from '@preact/signals'
import { render } from 'preact'
import { AccountChoice } from './act-as.tsx'
import { organization, unread, watchChat } from './chat/store.ts'
import { KeysDialog, listenToKeys, showKeys } from './keyboard.tsx'
import { clock, connection, watchLive } from './live.ts'
import { Icon, IconButton, notice } from './parts/controls.tsx'
import { fullTime } from './parts/format.ts'
import { WhyDialog } from './parts/why.tsx'
import { followAddress, route, type ViewName, views, writeHref } from './route.ts'
import { actor, begin, isControlled, phase, signOut } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { chooseNextTheme, readTheme, showTheme } from './theme.ts'
import { Calls } from './views/calls.tsx'
import { Conversations } from './views/conversations.tsx'
import { Events } from './views/events.tsx'
import { Health } from './views/health.tsx'
import { SpaceSwitch } from './views/spaces.tsx'
import { Time } from './views/time.tsx'
import { World } from './views/world.tsx'

const pages: Readonly<Record<ViewName, () => preact.JSX.Element>> = {
  conversations: Conversations,
  events: Events,
  calls: Calls,
  time: Time,
  world: World,
  health: Health,
}

const current = computed<ViewName>(() => {
  const { view } = route.value
  return views[view].control && !isControlled.value ? 'conversations' : view
})

const theme = signal(readTheme())

function App() {
  if (phase.value === 'starting') return <p class="empty">Loading…</p>
  if (phase.value === 'sign-in') return <SignIn />
  const Page = pages[current.value]
  return (
    <div class="shell">
      <Rail />
      <main class="main" id="main">
        {connection.value === 'lost' && (
          <p class="banner" role="alert">
            The daemon does not answer. Trying again…
          </p>
        )}
        <Page />
      </main>
      <p class="notice" role="status" data-shown={notice.value !== undefined} data-bad={notice.value?.bad}>
        {notice.value?.text}
      </p>
      <KeysDialog />
      <WhyDialog />
    </div>
  )
}

function Rail() {
  return (
    <header class="rail">
      <div class="brand">
        <svg viewBox="0 0 64 64" aria-hidden="true">
          <path d="M8 8h48v36H28L16 56V44H8z" />
        </svg>
        <span class="org cut">{organization.value || 'Natter'}</span>
        <SpaceSwitch />
      </div>
      <nav aria-label="Views">
        {(Object.keys(views) as ViewName[])
          .filter(name => isControlled.value || !views[name].control)
          .map(name => (
            <a key={name} class="tab" href={writeHref(name)} aria-current={current.value === name ? 'page' : undefined}>
              <Icon name={name} />
              <span class="tab-title">{views[name].title}</span>
              <span class="tab-short">{views[name].short}</span>
              {name === 'conversations' && unread.value.size > 0 && (
                <span class="count">{unread.value.size > 999 ? '999+' : unread.value.size}</span>
              )}
            </a>
          ))}
      </nav>
      <div class="rail-end">
        <ClockLine />
        <ActAs />
        <div class="rail-buttons">
          <span class="state" data-state={connection.value} title={`Connection: ${connection.value}`}>
            {connection.value}
          </span>
          <IconButton
            icon="theme"
            label={`Theme: ${theme.value}`}
            onClick={changeTheme}
            title={`Theme: ${theme.value}`}
          />
          <a class="button ghost" href="docs/" title="Documentation">
            <Icon name="docs" />
            <span class="hidden">Documentation</span>
          </a>
          <IconButton icon="keys" label="Keys" onClick={showKeys} title="Keys (?)" />
          <IconButton icon="leave" label="Sign out" onClick={signOut} title="Sign out" />
        </div>
      </div>
    </header>
  )
}

function ActAs() {
  return isControlled.value ? <AccountChoice /> : <p class="faint acting">{actor.value?.email}</p>
}

function ClockLine() {
  const now = clock.value
  if (!now?.frozen) return null
  return (
    <a class="clock-line" href={writeHref('time')}>
      Clock frozen at {fullTime(now.now)}
    </a>
  )
}

function changeTheme(): void {
  theme.value = chooseNextTheme(theme.value)
}

effect(() => showTheme(theme.value))
effect(() => {
  const count = unread.value.size
  document.title = `${count > 0 ? `(${count}) ` : ''}${views[current.value].title} – Natter inspector`
})
void begin()
followAddress()
listenToKeys()
watchChat()
watchLive()
render(<App />, document.querySelector('#app')!)
