// Reads which tests passed and which failed from the output of common test runners: TAP, node:test, vitest, jest, pytest -v, go test -v.

const forms: readonly (readonly [form: RegExp, passed: boolean])[] = [
  [/^\s*ok \d+ - (.+?)(?: # .*)?$/, true],
  [/^\s*not ok \d+ - (.+?)(?: # .*)?$/, false],
  [/^\s*[✔✓] (.+?)(?: \(?[\d.]+ ?m?s\)?)?$/, true],
  [/^\s*[✖✗×✕] (.+?)(?: \(?[\d.]+ ?m?s\)?)?$/, false],
  [/^(\S+::\S+.*?) PASSED\b/, true],
  [/^(\S+::\S+.*?) (?:FAILED|ERROR)\b/, false],
  [/^(?:FAILED|ERROR) (\S+::\S+)/, false],
  [/^\s*--- PASS: (\S+)/, true],
  [/^\s*--- FAIL: (\S+)/, false],
]

/** By the name of the test, in the order in which they ended. A test that failed once has failed. */
export function outcomesIn(output: string): Map<string, boolean> {
  const outcomes = new Map<string, boolean>()
  for (const line of withoutColors(output).split('\n'))
    for (const [form, passed] of forms) {
      const name = form.exec(line)?.[1]
      if (name === undefined) continue
      outcomes.set(name, passed && outcomes.get(name) !== false)
      break
    }
  return outcomes
}

function withoutColors(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  return text.replace(/\u001b\[[\d;]*m/g, '')
}
