// The tool `trigger` of the toolset `control`: what `natter trigger` does, for an agent.

import { keyed, maybe, record, text, textUpTo } from '../../../daemon/api/define.ts'
import type { Tool } from '../../../daemon/mcp/tool.ts'
import { Failure } from '../../base/failure.ts'
import type { Globals } from '../../base/globals.ts'
import { triggerEvent, triggers } from '../test/trigger/index.ts'

export function triggerTool(globals: Globals): Tool {
  return {
    name: 'trigger',
    toolset: 'control',
    title: 'Make an event happen',
    description:
      'Makes an event of a kind happen, such as mention or reaction/add, by real calls of other accounts, and returns it as the account receives it. Without kind: lists the kinds. For servers that are Natter with an open control plane.',
    impact: 'write',
    input: record({
      kind: maybe(textUpTo(100)),
      for: maybe({ ...textUpTo(300), description: 'The account that receives it: name, email or ID. Default: you.' }),
      override: maybe({ ...keyed(text), description: 'Parameters of the call that makes it happen.' }),
    }),
    output: record({}),
    async run(_call, { kind, for: receiver, override = {} }) {
      if (kind === undefined) {
        const kinds = Object.entries(triggers).map(([name, { about }]) => ({ kind: name, about }))
        return { text: kinds.map(one => `- ${one.kind}: ${one.about}`).join('\n'), data: { kinds } }
      }
      try {
        const overrides = new Map(Object.entries(override as Record<string, string>))
        const happened = await triggerEvent(String(kind), overrides, receiver as string | undefined, globals)
        return { text: JSON.stringify(happened), data: { ...happened } }
      } catch (error) {
        if (error instanceof Failure && error.hint) throw new Error(`${error.message}. ${error.hint}`)
        throw error
      }
    },
  }
}
