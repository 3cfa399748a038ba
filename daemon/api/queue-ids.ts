// IDs of event queues. After a restore from a backup they end with the ID of the restore: no ID of before comes again, and a client that
// has lost its queue sees by the ID of the next one that the server was set back.

export function queueIdOf(uuid: string, restoreId: string | undefined): string {
  return restoreId === undefined ? uuid : `${uuid}-${restoreId}`
}

/** Eight hexadecimal digits. */
export function newRestoreId(): string {
  return crypto.randomUUID().slice(0, 8)
}

/** Whether the store of the server was restored between the two registrations. Says no to IDs that are not ours. */
export function wasRestored(before: string, after: string): boolean {
  const [then, now] = [before, after].map(id => form.exec(id))
  return Boolean(then && now && then[1] !== now[1])
}

const form = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-([0-9a-f]{8}))?$/
