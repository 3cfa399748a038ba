// Sources of the messages of a narrow: walked from any point in both directions, without reading what is beyond.

import { IdList, type IdSet, type WordPart } from '../model/message-store/index.ts'

export interface Source {
  /** How many there may be: the smallest source is walked, the others are asked. */
  readonly size: number
  /** IDs below, descending. */
  down(from: number): Iterable<number>
  /** IDs above, ascending. */
  up(from: number): Iterable<number>
}

export function everyId(lastId: number, has: (id: number) => boolean): Source {
  return {
    size: lastId,
    *down(from) {
      for (let id = Math.min(from - 1, lastId); id > 0; id--) if (has(id)) yield id
    },
    *up(from) {
      for (let id = Math.max(from, 0) + 1; id <= lastId; id++) if (has(id)) yield id
    },
  }
}

export function listMembers(set: IdSet): Source {
  return {
    size: set.size,
    *down(from) {
      // Above 2^32 there are no message IDs, and the sets count in 32 bits.
      for (let id = set.atMost(Math.min(from - 1, 0xfffffffe)); id > 0; id = set.atMost(id - 1)) yield id
    },
    *up(from) {
      if (from >= 0xfffffffe) return
      for (let id = set.atLeast(Math.max(from, 0) + 1); id !== Number.POSITIVE_INFINITY; id = set.atLeast(id + 1))
        yield id
    },
  }
}

/** Several lists as one. */
export function uniteLists(lists: readonly IdList[]): Source {
  return {
    size: lists.reduce((sum, list) => sum + list.length, 0),
    down: from => merge(lists, list => list.lowerBound(from) - 1, -1),
    up: from => merge(lists, list => list.lowerBound(from + 1), 1),
  }
}

/** Lists that are only made when the walk comes to them. */
export function inParts(size: number, parts: readonly WordPart[]): Source {
  const lists = new Map<WordPart, IdList>()
  const getList = (part: WordPart) => {
    const list = lists.get(part) ?? part.ids()
    lists.set(part, list)
    return list
  }
  /** Bounds at which lists begin or end, and the lists between each two of them. */
  const edges = [...new Set(parts.flatMap(({ first, last }) => [first, last + 1]))].sort((a, b) => a - b)
  const between = (from: number, to: number) =>
    uniteLists(parts.filter(part => part.first < to && part.last >= from).map(getList))
  return {
    size,
    *down(from) {
      for (let i = edges.length - 2; i >= 0; i--) {
        if (edges[i]! >= from) continue
        for (const id of between(edges[i]!, edges[i + 1]!).down(Math.min(from, edges[i + 1]!))) {
          if (id < edges[i]!) break
          yield id
        }
      }
    },
    *up(from) {
      for (let i = 0; i < edges.length - 1; i++) {
        if (edges[i + 1]! <= from) continue
        for (const id of between(edges[i]!, edges[i + 1]!).up(Math.max(from, edges[i]! - 1))) {
          if (id >= edges[i + 1]!) break
          yield id
        }
      }
    },
  }
}

export function sourceFrom(ids: readonly number[]): Source {
  return uniteLists([new IdList([...new Set(ids)].sort((a, b) => a - b))])
}

/** A heap of cursors, the next ID on top. */
function* merge(lists: readonly IdList[], start: (list: IdList) => number, step: 1 | -1): Generator<number> {
  const heap: { list: IdList; at: number; id: number }[] = []
  for (const list of lists) {
    const at = start(list)
    if (at >= 0 && at < list.length) rise(heap, { list, at, id: list.at(at) }, step)
  }
  let last = -1
  while (heap.length > 0) {
    const top = heap[0]!
    if (top.id !== last) yield top.id
    last = top.id
    top.at += step
    if (top.at >= 0 && top.at < top.list.length) top.id = top.list.at(top.at)
    else {
      const moved = heap.pop()!
      if (heap.length === 0) return
      if (moved !== top) heap[0] = moved
    }
    sink(heap, step)
  }
}

type Heap = { id: number }[]

function rise<T extends { id: number }>(heap: T[], item: T, step: number): void {
  let at = heap.push(item) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if ((heap[parent]!.id - item.id) * step <= 0) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = item
}

function sink(heap: Heap, step: number): void {
  const item = heap[0]!
  let at = 0
  for (;;) {
    let child = at * 2 + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && (heap[child + 1]!.id - heap[child]!.id) * step < 0) child++
    if ((item.id - heap[child]!.id) * step <= 0) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = item
}
