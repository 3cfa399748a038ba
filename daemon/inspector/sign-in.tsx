// The form for people without a control token: an account, or the token typed by hand.

import { useSignal } from '@preact/signals'
import { Button, bind, Field } from './parts/basics.tsx'
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
          <input class="input" type="email" autocomplete="username" required {...bind(email)} />
        </Field>
        <Field label="API key or password">
          <input class="input" type="password" autocomplete="current-password" required {...bind(secret)} />
        </Field>
        <Button type="submit" look="primary" disabled={busy.value}>
          Sign in
        </Button>
      </form>
      <details>
        <summary>Use a control token instead</summary>
        <form onSubmit={submit(() => useToken(given.value))}>
          <Field label="Control token">
            <input class="input" type="password" autocomplete="off" required {...bind(given)} />
          </Field>
          <Button type="submit" disabled={busy.value}>
            Open
          </Button>
          <p class="faint">
            A daemon started with <code>--memory</code> or <code>--control</code> prints an address with its token.{' '}
            <code>natter open</code> opens it.
          </p>
        </form>
      </details>
    </>
  )
}
