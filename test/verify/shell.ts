// Runs the commands of one block in one shell, and notes what each of them printed and its exit code.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'

export interface Outcome {
  /** stdout and stderr, as they came. */
  readonly output: string
  readonly code: number
}

export interface Running {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds for one command. */
  readonly timeout: number
}

/** Characters that the commands of a block may print. */
const longestOutput = 1_000_000

/** Outcomes of the commands, in order; fewer than commands if one of them ended the shell. Throws on one that does not end. */
export function runBlock(commands: readonly string[], { cwd, env, timeout }: Running): Promise<Outcome[]> {
  const mark = `--${randomUUID()}--`
  const script = commands.map(command => `${command}\nprintf '\\n%s%d\\n' '${mark}' "$?"\n`).join('')
  // In a process group of its own, so that everything it started can be ended.
  const shell = spawn('sh', ['-c', `exec 2>&1\n${script}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const outcomes: Outcome[] = []
  let rest = ''
  return new Promise((resolve, reject) => {
    const fail = (text: string) => {
      try {
        process.kill(-shell.pid!, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
      const where = commands[outcomes.length] === undefined ? '' : `\n  $ ${commands[outcomes.length]}`
      reject(new Error(`${text}${where}`))
    }
    const newTimer = () => setTimeout(() => fail(`a command did not end within ${timeout / 1000} s`), timeout)
    let timer = newTimer()
    shell.stdout!.setEncoding('utf8').on('data', text => {
      rest += text
      const parts = rest.split(new RegExp(`\\n${mark}(\\d+)\\n`))
      rest = parts.pop()!
      for (let at = 0; at + 1 < parts.length; at += 2)
        outcomes.push({ output: parts[at]!, code: Number(parts[at + 1]) })
      if (rest.length > longestOutput) fail(`a command printed more than ${longestOutput} characters`)
      else if (parts.length > 0) {
        clearTimeout(timer)
        timer = newTimer()
      }
    })
    shell.on('error', () => {
      clearTimeout(timer)
      reject(new Error('there is no sh on the PATH'))
    })
    shell.on('close', (code, signal) => {
      clearTimeout(timer)
      // A command such as `exit 3` ends the shell itself.
      if (outcomes.length < commands.length)
        outcomes.push({ output: rest, code: code ?? 128 + (signal ? constants.signals[signal] : 0) })
      resolve(outcomes)
    })
  })
}
