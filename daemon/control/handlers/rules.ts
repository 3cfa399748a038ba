// Handlers of `api/control/rules.ts`.

import { ruleList as page } from '../../api/control/rules.ts'
import * as allRules from '../../domain/rules/index.ts'
import { resource } from './handler.ts'

export const rules = resource(page, {
  list: () => ({
    rules: Object.entries(allRules).flatMap(([name, rule]) =>
      typeof rule === 'object' && 'law' in rule ? [{ name, law: rule.law }] : [],
    ),
  }),
})
