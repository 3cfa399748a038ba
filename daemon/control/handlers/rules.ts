// Handlers of `api/control/rules.ts`.

import { ruleList as api } from '../../api/control/rules.ts'
import { namedRules } from '../rule-names.ts'
import { resource } from './handler.ts'

export const rules = resource(api, {
  list: () => ({ rules: namedRules.map(([name, { law }]) => ({ name, law })) }),
})
