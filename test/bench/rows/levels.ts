// The cost of a feature level for a call.

import { join } from 'node:path'
import { compareCalls, freshStore } from '../call-cost.ts'
import { daemonFlags, startDaemon, startServer } from '../processes.ts'
import { NotInstalled, type Row } from '../row.ts'

/** The folder of an earlier version, built. */
const earlier = process.env.NATTER_BENCH_EARLIER

const fullOnly = 'processes of the same code differ by more than the goal, so it takes several'

export const levels: readonly Row[] = [
  {
    name: 'a call at level 509, 64 connections',
    reference: 'the same at level 417',
    goal: { atMost: 1.03 },
    unit: 'ms of processor time',
    fullOnly,
    measure: effort =>
      compareCalls(
        effort,
        () => startDaemon([...freshStore(), '--level', '509']),
        () => startDaemon(freshStore()),
        'processorTime',
      ),
  },
  {
    name: 'a call at level 417, 64 connections',
    reference: 'the version that NATTER_BENCH_EARLIER names',
    goal: { atMost: 1.01 },
    unit: 'ms of processor time',
    fullOnly,
    async measure(effort) {
      if (earlier === undefined) throw new NotInstalled('NATTER_BENCH_EARLIER names no folder of a built version')
      return compareCalls(
        effort,
        () => startDaemon(freshStore()),
        () => startServer([join(earlier, 'bin/natterd'), ...daemonFlags, ...freshStore()]),
        'processorTime',
      )
    },
  },
]
