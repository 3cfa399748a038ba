// The rows of a CSV file as lines of a batch. The first row names the keys. A bundle of its own.

import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'

/** Rows as JSON. An empty field is not given. `refuse` makes the error for a file that is not CSV. */
export async function* readRows(
  input: AsyncIterable<string>,
  longestRow: number,
  refuse: (reason: string) => Error,
): AsyncGenerator<string[]> {
  const columns = (names: string[]) => {
    // As spreadsheet programs write it in countries with a decimal comma.
    if (names.length === 1 && /[;\t]/.test(names[0]!)) throw refuse('the columns must be separated by commas')
    // Spreadsheet programs may write columns without a name.
    const twice = names.find((name, index) => name !== '' && names.indexOf(name) < index)
    if (twice !== undefined) throw refuse(`there are two columns "${twice}"`)
    return names
  }
  const rows = parse({ bom: true, columns, skip_empty_lines: true, max_record_size: longestRow })
  // Also ends the rows when the input is closed before its end. What fails is thrown by the loop.
  pipeline(input, rows, () => {})
  try {
    for await (const row of rows) {
      const given = Object.entries(row).filter(([, field]) => field !== '')
      yield [JSON.stringify(Object.fromEntries(given))]
    }
  } catch (error) {
    throw error instanceof CsvError ? refuse(explain(error)) : error
  }
}

function explain({ code, message, columns, record, lines }: CsvError): string {
  if (code !== 'CSV_RECORD_INCONSISTENT_COLUMNS' || !Array.isArray(columns) || !Array.isArray(record)) return message
  return `line ${lines} has ${record.length} columns, the first line ${columns.length}; put quotes around a text with commas`
}
