// levels.md: what each feature level brought.

import { levelNews } from '../../daemon/api/levels/news.ts'
import { defaultLevel, newestLevel, versionAt } from '../../daemon/api/levels/releases.ts'

export async function levelsPage(): Promise<string> {
  const news = await levelNews()
  const levels = [...new Set(news.map(({ level }) => level))]
  const sections = levels.map(level => {
    const lines = news
      .filter(one => one.level === level)
      .map(({ about, breaks, gap }) => `- ${breaks ? '**Breaks clients.** ' : ''}${about}${gap ? gapText(gap) : ''}`)
    return `## ${level} (${versionAt(level)})\n\n${lines.join('\n')}\n`
  })
  return `# Changes by feature level

What each feature level brought, from ${defaultLevel}, the default, to ${newestLevel}. [Feature levels](../levels.md) says how to choose one, and how to see
what a client has to change. A level that is not listed differs from the one before it in nothing that natter has.

${sections.join('\n')}`
}

function gapText([from, to]: readonly [number, number]): string {
  return from > newestLevel - 1 || to >= newestLevel ? '' : ` Not at the levels ${from} to ${to}.`
}
