// The reply of a call of the API.

/** The JSON object of an answer. */
export type Reply = Readonly<Record<string, unknown>>

const times = new WeakMap<Reply, Date>()

let latest: string | undefined

/** Remembers the call whose answer came last: what natter cannot read is probably in it. */
export function setLastCall(method: string, path: string): void {
  latest = `${method} ${path.split('?', 1)[0]}`
}

export function getLastCall(): string | undefined {
  return latest
}

/** Remembers when a reply was sent, by the server's clock: times in it are shown as distances from then. */
export function setTime(reply: Reply, time: Date | undefined): Reply {
  if (time) times.set(reply, time)
  return reply
}

export function timeOf(reply: Reply): Date {
  return times.get(reply) ?? new Date()
}
