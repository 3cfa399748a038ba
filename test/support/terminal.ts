// A pseudo-terminal for `natter`: what a person at a screen would see.

import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { IPty } from '@lydell/node-pty'
import type { Shell } from './cli.ts'

export interface TerminalOptions {
  readonly columns?: number
  readonly env?: Readonly<Record<string, string>>
}

export class Screen {
  readonly pty: IPty
  text = ''
  readonly ended: Promise<number>
  #look = () => {}

  constructor(t: TestContext, pty: IPty) {
    this.pty = pty
    readToTheEnd(pty)
    let over = false
    this.ended = new Promise(resolve =>
      pty.onExit(({ exitCode, signal }) => {
        over = true
        resolve(signal ? 128 + signal : exitCode)
      }),
    )
    pty.onData(text => {
      this.text += text
      this.#look()
    })
    t.after(async () => {
      if (over) return
      // As when a window is closed: a shell takes its children with it, which a kill would leave behind.
      pty.kill('SIGHUP')
      const timer = setTimeout(() => pty.kill('SIGKILL'), 5000)
      await this.ended
      clearTimeout(timer)
    })
  }

  /** Without colours and with plain line breaks. */
  get plain(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being taken away
    return this.text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/\r+\n/g, '\n')
  }

  type(text: string): void {
    this.pty.write(text)
  }

  /** As when its window is closed: the system hangs it up. */
  close(): void {
    ;(this.pty as IPty & { destroy(): void }).destroy()
  }

  shows(pattern: RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${pattern} in ${JSON.stringify(this.text)}`)), 180_000)
      this.#look = () => {
        if (!pattern.test(this.plain)) return
        clearTimeout(timer)
        resolve()
      }
      this.#look()
    })
  }
}

/** The package closes a terminal a moment after its program has ended, read or not. Not before it has looked again. */
function readToTheEnd(pty: IPty): void {
  const { _socket: socket } = pty as IPty & { _socket?: { destroy(): void } }
  if (!socket) return
  const destroy = socket.destroy.bind(socket)
  socket.destroy = () => void setImmediate(destroy)
}

/** Why there is none, or the way to open one. The package has binaries for the usual systems only. */
export async function terminals(): Promise<
  string | ((t: TestContext, shell: Shell, args: readonly string[], options?: TerminalOptions) => Screen)
> {
  let spawn: typeof import('@lydell/node-pty').spawn
  try {
    ;({ spawn } = await import('@lydell/node-pty'))
  } catch (error) {
    return `no pseudo-terminal on this system: ${(error as Error).message.split('\n')[0]}`
  }
  const launcher = join(import.meta.dirname, '../../bin/natter')
  return (t, shell, args, { columns = 80, env = {} } = {}) => {
    const { PATH = '', NODE_V8_COVERAGE } = process.env
    const counted = NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }
    const all = { PATH, ...counted, TERM: 'xterm', HOME: shell.home, ...shell.env, ...env }
    const pty = spawn(process.execPath, [launcher, ...args], { cols: columns, rows: 24, cwd: shell.home, env: all })
    return new Screen(t, pty)
  }
}
