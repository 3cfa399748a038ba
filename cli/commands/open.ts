// `natter open`: shows the inspector of a daemon in the browser of this machine.

import { spawn } from 'node:child_process'
import { inspectorAddress } from '../../daemon/api/local.ts'
import { exitCodes, Failure } from '../base/failure.ts'
import { formatFlags } from '../base/globals.ts'
import { note } from '../base/note.ts'
import { accountFor, controlTokenFor } from '../base/profile.ts'
import type { ExtraSubcommand, Invocation } from '../base/subcommand.ts'
import { printFormatted } from '../print/output.ts'

export const open: readonly ExtraSubcommand[] = [
  {
    name: 'open',
    about: 'Open the inspector of the daemon in a browser, or print its address',
    flags: [{ name: 'print', about: 'print the address and open nothing' }],
    globals: [...formatFlags, 'site', 'profile', 'ready-file', 'control-token', 'quiet'],
    more: `The token of the control plane is in the fragment of the address, which browsers send to no server. Without a token the page
asks for an account. Where there is no browser, the address is printed. BROWSER names another browser.`,
    examples: ['natter open', 'natter open --print', 'natter open --site http://127.0.0.1:9991/spaces/ci'],
    run: openInspector,
  },
]

async function openInspector({ flags, globals }: Invocation): Promise<void> {
  const address = addressFor(globals)
  if (await printFormatted({ inspector: address }, globals)) return
  if (flags.print === true || !(await showInBrowser(address))) process.stdout.write(`${address}\n`)
  else if (!globals.quiet) note(`opened ${address.replace(/#.*/, '')}`)
}

function addressFor(globals: Invocation['globals']): string {
  const account = accountFor(globals, process.env)
  if (account.site) return inspectorAddress(account.site, controlTokenFor(globals, process.env, account))
  throw new Failure(exitCodes.refused, 'no server is known', {
    hint: 'Start one with `natter daemon start`, or give --site.',
  })
}

/** Resolves to false when no browser could be started. */
function showInBrowser(address: string): Promise<boolean> {
  const [program, ...args] = opener(address)
  if (!program) return Promise.resolve(false)
  return new Promise(resolve => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      // Openers end soon; a browser that stays is left alone.
      const timer = setTimeout(() => resolve(true), 2000)
      child.unref()
      child.once('exit', code => {
        clearTimeout(timer)
        resolve(code === 0)
      })
    })
  })
}

function opener(address: string): readonly string[] {
  if (process.env.BROWSER) return [process.env.BROWSER, address]
  if (process.platform === 'darwin') return ['open', address]
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '', address]
  // Without a display there is nothing that could show it.
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ['xdg-open', address] : []
}
