// The checksums of snapshot and journal, without parsing them. Apart from `check.ts`, which needs the domain: a backup does not.

import { readSegment, type Segment } from '../journal/segment-reader.ts'
import { checkOpenState } from '../journal/state-file.ts'
import type { StoreView } from './store-view.ts'

/**
 * The snapshot and the journal by their checksums; throws at the first that does not match. For a backup, which checks the files of
 * messages while it copies them: the rest is checked when it is restored.
 */
export async function checkSums({ state, segments, snapshot }: StoreView): Promise<void> {
  if (state) await checkOpenState(state.fd, state.name)
  let previous: number | undefined
  for (const segment of segments) {
    await walkSegment(segment, snapshot.position, previous)
    previous = segment.last
  }
}

/** Every line is checked on the way; nothing needs to be parsed. */
export async function walkSegment(segment: Segment, after: number, previous: number | undefined): Promise<void> {
  for await (const _ of readSegment(segment, after, previous, () => []));
}
