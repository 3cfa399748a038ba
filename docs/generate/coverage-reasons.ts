// Why the tests run less than 90 % of the lines or branches of a folder, or of the lines of a file. coverage.md shows them, and a test
// checks that each is still needed.

/** By path. The reason of a folder is for everything in it that has none of its own. */
export const reasons: Readonly<Record<string, string>> = {}
