// Handlers of `api/control/rules.ts`.

import { ruleList as page } from '../../api/control/rules.ts'
import { namedRules } from '../rule-names.ts'
import { resource } from './handler.ts'

export const rules = resource(page, {
  list: () => ({ rules: namedRules.map(([name, { law }]) => ({ name, law })) }),
})
