// Restores, checks and measures a store. A bundle of its own, which the command line
// loads when one of these is asked for: it needs the domain, and nothing else that the command line does.

export { lockStore, StoreInUse } from '../journal/store-lock.ts'
export { checkStore, findNeeded } from './check.ts'
export { checkBackup, openBackup, restoreBackup } from './restore.ts'
export { readStats } from './stats.ts'
