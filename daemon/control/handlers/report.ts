// Handlers of `api/control/report.ts`.

import { report as api } from '../../api/control/report.ts'
import { makeReport } from '../report.ts'
import { resource } from './handler.ts'

export const report = resource(api, { make: ({ plane }) => makeReport(plane) })
