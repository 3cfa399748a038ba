// The form for people without a control token: an account, or the token typed by hand.

import { useSignal } from '@preact/signals'
import { Field } from './parts/basics.tsx'
import { refused, signIn, useToken } from './session.ts'

export function SignIn() {
  return (
    <main class="sign-in">
      <div class="card">
        <h1>Natter inspector</h1>
        <p class="faint">Sign in as an account to see what it may see.</p>
        <SignInForms />
      </div>
    </main>
  )
}

/** On the pages of the documentation too. */
export function SignInForms() {
  const email = useSignal('')
  const secret = useSignal('')
  const given = useSignal('')
  const busy = useSignal(false)
  const submit = (run: () => Promise<void>) => async (event: Event) => {
    event.preventDefault()
    busy.value = true
    await run()
    busy.value = false
  }
  return (
    <>
      {refused.value && (
        <p class="problem" role="alert">
          {refused.value}
        </p>
      )}
      <form onSubmit={submit(() => signIn(email.value, secret.value))}>
        <Field label="Email">
          <input
            class="input"
            type="email"
            autocomplete="username"
            required
            value={email.value}
            onInput={event => {
              email.value = event.currentTarget.value
            }}
          />
        </Field>
        <Field label="API key or password">
          <input
            class="input"
            type="password"
            autocomplete="current-password"
            required
            value={secret.value}
            onInput={event => {
              secret.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="button primary" disabled={busy.value}>
          Sign in
        </button>
      </form>
      <details>
        <summary>Use a control token instead</summary>
        <form onSubmit={submit(() => useToken(given.value))}>
          <Field label="Control token">
            <input
              class="input"
              type="password"
              autocomplete="off"
              required
              value={given.value}
              onInput={event => {
                given.value = event.currentTarget.value
              }}
            />
          </Field>
          <button type="submit" class="button" disabled={busy.value}>
            Open
          </button>
          <p class="faint">
            A daemon started with <code>--memory</code> or <code>--control</code> prints an address with its token.{' '}
            <code>natter open</code> opens it.
          </p>
        </form>
      </details>
    </>
  )
}
