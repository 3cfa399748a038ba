// The moment at which V8 optimizes a function. Most tests end soon after it, and much of their processor time went into it.

/** Four times V8's own, in bytes of bytecode that were executed: random histories and other long loops are still optimized. */
export const interruptBudget = 528_000
