// The reply of a call of the API.

/** The JSON object of an answer. */
export type Reply = Readonly<Record<string, unknown>>

const times = new WeakMap<Reply, Date>()

/** Remembers when a reply was sent, by the server's clock: times in it are shown as distances from then. */
export function setTime(reply: Reply, time: Date | undefined): Reply {
  if (time) times.set(reply, time)
  return reply
}

export function timeOf(reply: Reply): Date {
  return times.get(reply) ?? new Date()
}
