// How many cases a property test tries: few in every run, as many as NATTER_RUNS says when somebody hunts for one.

export function cases(usual: number): number {
  return Number(process.env.NATTER_RUNS ?? usual)
}
