// `natter open`: shows the inspector of a daemon in the browser of this machine.

import { execFile, spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeFolderSync, writeFileAtomicallySync } from '../../../daemon/local/atomic-file.ts'
import { inspectorAddress } from '../../../daemon/local/ready-file.ts'
import { exitCodes, Failure } from '../../base/failure.ts'
import { formatFlags } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { accountFor, configFolder, controlTokenFor } from '../../base/profile.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { requireSite } from '../../transport/client.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'open',
    about: 'Open the inspector of the daemon in a browser, or print its address',
    flags: [{ name: 'print', about: 'print the address and open nothing' }],
    globals: [...formatFlags, 'site', 'profile', 'ready-file', 'control-token', 'quiet'],
    more: `The token of the control plane is in the fragment of the address, which browsers send to no server. The browser gets it from the
file open.html beside your profiles, since other users of the machine can see the arguments of a program. Where the browser cannot
read that file, use --print. Without a token the page asks for an account. Where there is no browser, the address is printed.
BROWSER names another browser.`,
    examples: ['natter open', 'natter open --print', 'natter open --site http://127.0.0.1:9991/spaces/ci'],
    run: openInspector,
  },
]

async function openInspector({ flags, globals }: Invocation): Promise<void> {
  const account = accountFor(globals, process.env)
  if (!account.site)
    throw new Failure(exitCodes.refused, 'no server is known', {
      hint: 'Start one with `natter daemon start`, or give --site.',
    })
  const token = controlTokenFor(globals, process.env, account)
  const address = inspectorAddress(requireSite(account), token)
  if (await printFormatted({ inspector: address }, globals)) return
  if (flags.print === true || !(await showInBrowser(address, token !== undefined))) print(`${address}\n`)
  else if (!globals.quiet) note(`opened ${address.replace(/#.*/, '')}`)
}

/** Resolves with false when no browser could be started. */
async function showInBrowser(address: string, isSecret: boolean): Promise<boolean> {
  const [program, ...args] = openerHere()
  if (!program) return false
  // Windows shows the arguments of a program to its own user only.
  const shown = isSecret && process.platform !== 'win32' ? await writePage(address).catch(() => undefined) : address
  if (shown === undefined) return false
  return new Promise(resolve => {
    const child = spawn(program, [...args, shown], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      // Most openers end soon. A browser that keeps running is not waited for.
      const timer = setTimeout(() => resolve(true), 2000)
      child.unref()
      child.once('exit', code => {
        clearTimeout(timer)
        resolve(code === 0)
      })
    })
  })
}

/** The program and its arguments before the address. Never a shell, which would interpret characters of the address. */
function openerHere(): readonly string[] {
  if (process.env.BROWSER) return [process.env.BROWSER]
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  // Without a display there is nothing that could show it.
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}

/** A page that only its owner can read, and that redirects to the address. It is not deleted, because nothing tells when the browser has read it. */
async function writePage(address: string): Promise<string> {
  const folder = (await snapFolder()) ?? configFolder(process.env)
  const file = join(folder, 'open.html')
  const target = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  makeFolderSync(folder)
  writeFileAtomicallySync(
    file,
    `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${target}">
<title>Natter</title>
<a href="${target}">Open the inspector</a>
`,
  )
  return pathToFileURL(file).href
}

/** A browser that is a snap reads no hidden folders but its own, and its desktop file is called NAME_NAME.desktop. */
function snapFolder(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.env.BROWSER) return Promise.resolve(undefined)
  return new Promise(resolve => {
    execFile('xdg-settings', ['get', 'default-web-browser'], { timeout: 2000 }, (error, output) => {
      const [, name] = /^([\w-]+)_[\w.-]+\.desktop\s*$/.exec(String(output)) ?? []
      resolve(error || name === undefined ? undefined : join(homedir(), 'snap', name, 'common'))
    })
  })
}
