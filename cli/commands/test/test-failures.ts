// Finds which tests failed in the output of common test runners: TAP and the other reporters of node:test, vitest, jest, pytest, go
// test, and JUnit XML.

const forms: readonly RegExp[] = [
  /^\s*not ok \d+ - (?!.* # TODO\b)(.+)$/,
  /^\s*[✖✗×✕] (?!failing tests:|.* # TODO\b)(.+?)(?: \(?[\d.]+ ?m?s\)?)?$/,
  /^(\S+::.+?) (?:FAILED|ERROR)\b/,
  /^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$/,
  /^\s*--- FAIL: (\S+)/,
]

/** The summary of vitest, for reporters that print no line for each test; the others would be counted twice. */
const summary = /^ *FAIL {1,2}(\S+ > .+)$/gm

/** Characters of a line that are searched. No name of a test is as long. */
const longestLine = 10_000

const junit = /<testcase((?:\s+[\w:-]+="[^"]*")*)\s*>\s*<(?:failure|error)\b/g

/** In the order in which they ended. */
export function failuresIn(output: string): Set<string> {
  const failures = new Set<string>()
  const text = withoutColors(output)
  for (const line of text.split('\n'))
    for (const form of line.length > longestLine ? [] : forms) {
      const name = form.exec(line)?.[1]
      if (name === undefined) continue
      failures.add(name)
      break
    }
  for (const [, attributes] of text.matchAll(junit)) {
    const name = /\bname="([^"]*)"/.exec(attributes!)?.[1]
    if (name !== undefined) failures.add(name)
  }
  if (failures.size === 0) for (const [, name] of text.matchAll(summary)) failures.add(name!)
  return failures
}

function withoutColors(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  return text.replace(/\u001b\[[\d;]*m/g, '')
}
