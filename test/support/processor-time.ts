// The time that something takes on the processor, which other processes do not change.

/** Milliseconds of processor time of this process. */
export async function processorTime(work: () => unknown): Promise<number> {
  const started = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}
