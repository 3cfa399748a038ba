// Finds which tests failed in the output of common test runners: TAP and the other reporters of node:test, vitest, jest, pytest, go
// test, and JUnit XML.

const forms: readonly RegExp[] = [
  /^\s*not ok \d+ - (?!.* # TODO\b)(.+)$/,
  /^\s*[✖✗×✕] (?!failing tests:|.* # TODO\b)(.+?)(?: \(?[\d.]+ ?m?s\)?)?$/,
  // Each part of a name ends where the next one begins, so that a long line is not tried in many ways.
  /^((?:(?!::)\S)+::(?:(?! (?:FAILED|ERROR)\b).)+) (?:FAILED|ERROR)\b/,
  /^(?:FAILED|ERROR) ((?:(?!::)\S)+::(?:(?! - ).)+)/,
  /^\s*--- FAIL: (\S+)/,
]

/** Summaries of vitest and jest, where they print no line for each test; the others would be found twice. */
const summaries: readonly RegExp[] = [/^ *FAIL {1,2}(\S+ > .+)$/gm, /^ {2}● (?!Console$|.* Warning:$)(.+)$/gm]

/** The numbers that node:test, vitest and jest print themselves. */
const totals: readonly RegExp[] = [
  /^\s*(?:#|ℹ|<!--) (?:fail|cancelled) (\d+)(?: -->)?$/gm,
  /^ *Tests:? +(\d+) failed\b/gm,
]

/** Characters of a line that are searched. No name of a test is as long. */
const longestLine = 10_000

const junit = /<testcase((?:\s+[\w:-]+="[^"]*")*)\s*>\s*<(?:failure|error)\b/g

/** Forms that name each failed test once; pytest -v and the spec reporter of node:test name it twice. */
const namedOnce: readonly RegExp[] = [/^\s*--- FAIL: \S/gm, junit]

interface TestFailures {
  /** In the order in which they ended. */
  readonly names: ReadonlySet<string>
  /** More than the names, if several tests have the same one; fewer, if the output also names groups of tests. */
  readonly count: number
}

export function failuresIn(output: string): TestFailures {
  const names = new Set<string>()
  const text = withoutColors(output)
  for (const line of text.split('\n'))
    for (const form of line.length > longestLine ? [] : forms) {
      const name = form.exec(line)?.[1]
      if (name === undefined) continue
      names.add(name)
      break
    }
  for (const [, attributes] of text.matchAll(junit)) {
    const name = /\bname="([^"]*)"/.exec(attributes!)?.[1]
    if (name !== undefined) names.add(name)
  }
  if (names.size === 0) for (const form of summaries) for (const [, name] of text.matchAll(form)) names.add(name!)
  return {
    names,
    count: totalIn(text) || Math.max(names.size, ...namedOnce.map(form => [...text.matchAll(form)].length)),
  }
}

function totalIn(text: string): number {
  return totals.flatMap(form => [...text.matchAll(form)]).reduce((sum, [, number]) => sum + Number(number), 0)
}

function withoutColors(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  return text.replace(/\u001b\[[\d;]*m/g, '')
}
