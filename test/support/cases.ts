// The number of cases that a property test tries: few in every run, as many as NATTER_RUNS says in a longer search.

export function cases(usual: number): number {
  return Number(process.env.NATTER_RUNS ?? usual)
}
