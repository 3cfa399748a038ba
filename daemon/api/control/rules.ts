// The rules of the permission model, in words.

import { controlEndpoint } from '../control-endpoint.ts'
import { listOf, record, text } from '../define.ts'

export const ruleList = {
  list: controlEndpoint({
    id: 'list-rules',
    route: 'GET /rules',
    summary: 'List the rules of the permission model, each with the sentence that states it',
    reply: { rules: listOf(record({ name: text, law: text })) },
    cli: { name: 'rules', examples: ['natter rules', "natter rules --jq '.rules[].law'"] },
  }),
}
