// The terminal at the end of a program.

const { closeSync, fstatSync, openSync } = require('node:fs')

/**
 * When node ends, it sets the terminal to the state in which node found it. A job that a shell started in the background found
 * it without echo, since the shell was reading a line, and would leave the shell without echo. Node leaves out a file descriptor
 * that was opened again.
 */
exports.leaveTerminal = () => {
  for (const descriptor of [0, 1, 2])
    try {
      // Only a terminal loads node:tty, which takes longer than all the rest.
      if (!fstatSync(descriptor).isCharacterDevice() || !require('node:tty').isatty(descriptor)) continue
      closeSync(openSync('/dev/tty', 'r+'))
      closeSync(descriptor)
      // Gets the number that is free now.
      openSync('/dev/tty', 'r+')
    } catch {
      // There is no /dev/tty: the terminal is not that of a shell with jobs.
    }
}
