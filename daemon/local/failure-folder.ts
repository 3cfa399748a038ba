// The folder of a failure on disk. Its `run.json` lists the files that were written: nothing else in the folder is replaced or removed.

import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type Content, makeFolderSync, writeFileAtomically } from './atomic-file.ts'
import { largeFile, readText } from './bounded-file.ts'
import { type FailedRun, isKeptName, runName, snapshotName, type TextFile } from './failure-files.ts'

interface KeptRun extends FailedRun {
  readonly kept: readonly string[]
}

/** Replaces what the folder kept earlier, but not the tests in it. */
export async function writeFailure(folder: string, files: readonly TextFile[], snapshot: Content): Promise<void> {
  refuseOthers(folder)
  removeOwn(folder)
  makeFolderSync(folder, 0o777)
  for (const [name, text] of files) await writeFileAtomically(join(folder, name), text)
  await writeFileAtomically(join(folder, snapshotName), snapshot)
}

/** To be called before what was kept earlier is removed, so that a refusal loses nothing. */
export function refuseOthers(folder: string): void {
  const own = keptRun(folder)?.kept ?? []
  const other = namesIn(folder).find(name => isKeptName(name) && !own.includes(name))
  if (other !== undefined) throw new Error(`${other} exists, and natter did not write it. Name another folder.`)
}

/** Removes what an earlier run kept, the tests in it included: it would look like that of this run. */
export function forgetFailure(folder: string): void {
  const tests = keptTests(folder)
  for (const test of tests) forgetFailure(test)
  if (removeOwn(folder) || tests.length > 0) removeIfEmpty(folder)
}

/** Folders that tests kept themselves, beside what the daemon knew; the test that failed first comes first. */
export function keptTests(folder: string): string[] {
  return foldersKeptIn(folder)
    .filter(inside => existsSync(join(inside, snapshotName)))
    .map(inside => ({ inside, keptAt: statSync(join(inside, runName)).mtimeMs }))
    .sort((a, b) => a.keptAt - b.keptAt)
    .map(({ inside }) => inside)
}

/** Undefined where natter has kept nothing. */
export function keptRun(folder: string): KeptRun | undefined {
  try {
    const run = JSON.parse(readText(join(folder, runName), largeFile))
    return Array.isArray(run.kept) ? run : undefined
  } catch {
    return undefined
  }
}

/** Whether there was something. The folder itself stays: another process could take it for its own. */
function removeOwn(folder: string): boolean {
  const run = keptRun(folder)
  if (!run) return false
  const own = namesIn(folder).filter(name => isKeptName(name) && run.kept.includes(name))
  for (const name of own) if (name !== runName) rmSync(join(folder, name), { force: true })
  for (const spaces of foldersIn(folder).filter(inside => basename(inside) === 'spaces')) {
    for (const space of foldersKeptIn(spaces)) forgetFailure(space)
    removeIfEmpty(spaces)
  }
  // The last, so that what an interrupt leaves is still known as natter's.
  if (own.includes(runName)) rmSync(join(folder, runName))
  return true
}

function foldersKeptIn(folder: string): string[] {
  return foldersIn(folder).filter(inside => keptRun(inside))
}

/** Without links: what they lead to was not kept here. */
function foldersIn(folder: string): string[] {
  return namesIn(folder)
    .map(name => join(folder, name))
    .filter(inside => lstatSync(inside).isDirectory())
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** The current folder stays: commands run in it. */
function removeIfEmpty(folder: string): void {
  if (resolve(folder) !== process.cwd() && existsSync(folder) && namesIn(folder).length === 0) rmdirSync(folder)
}
