import type { Payload } from '@vitascope/sdk'
import Papa from 'papaparse'
import { addressTitle } from './source-title.ts'

/** Columns of a list. The first line of the file names them, in any order. */
export const CSV_COLUMNS = ['url', 'title', 'description', 'tags', 'visibility'] as const
export const MAX_CSV_ROWS = 1_000
const VISIBILITIES = ['public', 'unlisted', 'private'] as const

type Column = (typeof CSV_COLUMNS)[number]

/** A problem of one row or of the whole list. The texts are those of `csv.problem` in the translation. */
export type CsvProblem =
  | { problem: 'notText' | 'noUrlColumn' | 'noRows' | 'noUrl' | 'notAUrl' | 'duplicate' | 'tooManyFields' | 'badQuotes' }
  | { problem: 'unknownColumn' | 'unknownVisibility' | 'tagSpace'; value: string }
  | { problem: 'tooManyRows' | 'tooLong'; max: number; value?: string }

export interface CsvRow {
  /** Line in the file, from 1. A text in quotes can have several lines. */
  line: number
  values: Record<Column, string>
  problems: CsvProblem[]
}

export interface CsvList {
  problems: CsvProblem[]
  rows: CsvRow[]
}

const MAX_LENGTHS: Readonly<Partial<Record<Column, number>>> = { url: 2_048, title: 255, description: 5_000 }

/**
 * Checks a list of videos without creating any. Comma, semicolon and tab separate fields. Each row has its own
 * problems, so that the others can be used.
 */
export function readCsvList(text: string): CsvList {
  if (text.includes('\0')) return { problems: [{ problem: 'notText' }], rows: [] }
  const { data, errors } = Papa.parse<string[]>(text.replace(/^\uFEFF/, ''), { delimiter: findDelimiter(text), skipEmptyLines: false })
  const [header = [], ...lines] = data
  const columns = header.map((name) => name.trim().toLowerCase())
  const problems: CsvProblem[] = columns.filter((name) => !isColumn(name)).map((value) => ({ problem: 'unknownColumn', value }))
  if (!columns.includes('url')) return { problems: [...problems, { problem: 'noUrlColumn' }], rows: [] }
  const urls = new Set<string>()
  const rows: CsvRow[] = []
  const badQuotes = new Set(errors.flatMap(({ type, row }) => (type === 'Quotes' && row !== undefined ? [row] : [])))
  let line = 2 + countLineEnds(header)
  for (const [index, fields] of lines.entries()) {
    if (fields.some((field) => field.trim() !== '')) {
      const row = readRow(line, fields, columns, urls)
      // The first row of the data is the header.
      if (badQuotes.has(index + 1)) row.problems.unshift({ problem: 'badQuotes' })
      rows.push(row)
    }
    line += 1 + countLineEnds(fields)
  }
  if (rows.length === 0) problems.push({ problem: 'noRows' })
  if (rows.length > MAX_CSV_ROWS) problems.push({ problem: 'tooManyRows', max: MAX_CSV_ROWS })
  return { problems, rows }
}

/** Returns the payload that creates the video of a row. */
export function toUploadPayload({ values }: CsvRow): Omit<Payload<'uploadVideo'>, 'organisation_id'> & { url: string } {
  const tags = splitTags(values.tags)
  const title = values.title || addressTitle(values.url)
  return {
    url: values.url,
    ...(title !== undefined && { name: title }),
    ...(values.description !== '' && { description: values.description }),
    ...(tags.length > 0 && { tags }),
    ...(isVisibility(values.visibility) && { visibility: values.visibility }),
  }
}

/** `urls` has those of earlier rows. The row's own is added. */
function readRow(line: number, fields: readonly string[], columns: readonly string[], urls: Set<string>): CsvRow {
  const read = (column: Column) => fields[columns.indexOf(column)]?.trim() ?? ''
  const values = {
    ...{ url: read('url'), title: read('title'), description: read('description'), tags: read('tags') },
    visibility: read('visibility').toLowerCase(),
  }
  const problems: CsvProblem[] = []
  if (values.url === '') problems.push({ problem: 'noUrl' })
  else if (!isWebUrl(values.url)) problems.push({ problem: 'notAUrl' })
  else if (urls.has(values.url)) problems.push({ problem: 'duplicate' })
  urls.add(values.url)
  if (values.visibility !== '' && !isVisibility(values.visibility))
    problems.push({ problem: 'unknownVisibility', value: values.visibility })
  for (const value of splitTags(values.tags)) if (/\s/u.test(value)) problems.push({ problem: 'tagSpace', value })
  if (fields.length > columns.length) problems.push({ problem: 'tooManyFields' })
  for (const column of CSV_COLUMNS) {
    const max = MAX_LENGTHS[column]
    if (max !== undefined && values[column].length > max) problems.push({ problem: 'tooLong', value: column, max })
  }
  return { line, values, problems }
}

/** The first line decides, because no name of a column has a delimiter. A short list with other texts misleads a guess. */
function findDelimiter(text: string): string {
  const [header = ''] = text.split('\n', 1)
  return [';', '\t'].find((delimiter) => header.includes(delimiter)) ?? ','
}

function splitTags(text: string): string[] {
  return text.split(/[;,]/).flatMap((tag) => tag.trim() || [])
}

function countLineEnds(fields: readonly string[]): number {
  return fields.reduce((count, field) => count + field.split('\n').length - 1, 0)
}

function isColumn(name: string): name is Column {
  return CSV_COLUMNS.some((column) => column === name)
}

function isVisibility(text: string): text is (typeof VISIBILITIES)[number] {
  return VISIBILITIES.some((visibility) => visibility === text)
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
