// Handlers of `api/control/report.ts`.

import { report as page } from '../../api/control/report.ts'
import { makeReport } from '../report.ts'
import { resource } from './handler.ts'

export const report = resource(page, { make: ({ plane }) => makeReport(plane) })
