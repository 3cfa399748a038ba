// The rows of a CSV file as lines of a batch. The first row names the keys. A bundle of its own.

import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'

/** Rows as JSON. An empty field is not given. `refuse` makes the error for a file that is not CSV. */
export async function* readRows(
  input: NodeJS.ReadableStream,
  longestRow: number,
  refuse: (reason: string) => Error,
): AsyncGenerator<string[]> {
  const rows = parse({ bom: true, columns: true, skip_empty_lines: true, max_record_size: longestRow })
  // Also ends the rows when the input is closed before its end. What fails is thrown by the loop.
  pipeline(input, rows, () => {})
  try {
    for await (const row of rows) {
      const given = Object.entries(row).filter(([, field]) => field !== '')
      yield [JSON.stringify(Object.fromEntries(given))]
    }
  } catch (error) {
    throw error instanceof CsvError ? refuse(error.message) : error
  }
}
