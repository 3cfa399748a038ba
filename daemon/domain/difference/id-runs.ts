// Runs of message IDs as text: `1-4, 7`.

/** From pairs of first and last. */
export function idRuns(runs: readonly number[]): string {
  const parts: string[] = []
  for (let i = 0; i < runs.length; i += 2)
    parts.push(runs[i] === runs[i + 1] ? `${runs[i]}` : `${runs[i]}-${runs[i + 1]}`)
  return parts.join(', ')
}
