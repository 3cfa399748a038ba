// Texts that are hard to render: the same few characters many times, between others. An expression that tries too much at each of
// them takes a time that grows with the square of the length, or faster, and all other callers wait for it.

import { rendering } from '../support/markdown.ts'
import { type Campaign, dice, Failure } from './campaign.ts'

/** Characters of a text. Short enough that many can be tried, long enough that one that is too slow is noticed. */
const length = 4000
/** Milliseconds of the processor. An ordinary text of this length takes 5, one of a thousand formulas 150. */
const mostBusy = 400
/** Attempts for a text that was slow: the first may have paid for garbage, or for compiling. */
const attempts = 3

/** What has a meaning in Markdown, alone or at the beginning of something. */
const marks = [
  ...'`~*_[]()<>@#:|-+=!\\&$"\'./?{}%^;,1a \t\n\r',
  ...'``` ~~~ ```a ** ~~ $$ [a]( ]( ![ <time: <http:// <a </ &# &a @** @_** @* #**a #**announce> **>'.split(' '),
  ...'http:// https://a.b/ www. a. .a a@ /user_uploads/ |- :a :a: \\\\ a* 😄 \u00e9 \u0301 \u00a0 \u200d \ufe0f \u2028'.split(
    ' ',
  ),
  ...'```\n|```math\n|```quote\n|```spoiler a\n|    |> |- |1. |# |[a](b "|/poll |/todo\n|\n\n| \n|\n | *|* '.split('|'),
  'a|b\n-|-\n',
]

export const campaign: Campaign = {
  about: 'texts that repeat marks of Markdown: none takes long to render',
  unit: 'texts',
  long: 100_000,
  short: 300,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    for (let i = 0; i < 200; i++) rendering('a *b* `c` http://a.b\n```\nd\n```\n')
    let done = 0
    let slowest = { busy: 0, text: '' }
    for (let next = seed; done < count && performance.now() < deadline; next++) {
      const text = compose(dice(next))
      const busy = leastBusy(text)
      if (busy > mostBusy) throw new Failure(next, `${busy.toFixed(0)} ms of the processor for ${JSON.stringify(text)}`)
      if (busy > slowest.busy) slowest = { busy, text }
      done++
      if (done % 1000 === 0) {
        progress(done)
        note(`${done} texts`)
      }
    }
    return { done, summary: `at most ${slowest.busy.toFixed(1)} ms, for ${JSON.stringify(slowest.text.slice(0, 20))}…` }
  },
}

/** A beginning, one or two repeated parts, and an end that none of them may expect. */
function compose(random: () => number): string {
  const some = (most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => marks[Math.floor(random() * marks.length)]!).join(
      '',
    )
  const repeated = [some(2) || 'a', ...(random() < 0.4 ? [some(1) || ' '] : [])]
  const part = length / repeated.length
  return some(2) + repeated.map(text => text.repeat(Math.ceil(part / text.length))).join('') + some(2)
}

function leastBusy(text: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && least > mostBusy; attempt++) {
    const before = process.cpuUsage()
    rendering(text)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}
