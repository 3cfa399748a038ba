// Why a file or folder may have less than 90 % of its lines or branches run by the tests. A test checks that each is still true.

/** By path; the reason of a folder is for everything in it that has none of its own. */
export const reasons: Readonly<Record<string, string>> = {}
