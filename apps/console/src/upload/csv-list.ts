import type { Payload } from '@vitascope/sdk'
import Papa from 'papaparse'

/** Columns of a list. The first line of the file names them, in any order. */
export const CSV_COLUMNS = ['url', 'title', 'description', 'tags', 'visibility'] as const
export const MAX_CSV_ROWS = 1_000
const VISIBILITIES = ['public', 'unlisted', 'private'] as const

type Column = (typeof CSV_COLUMNS)[number]

/** A problem of one row or of the whole list. The texts are those of `upload.csv` in the translation. */
export type CsvProblem =
  | { problem: 'noUrlColumn' | 'noRows' | 'noUrl' | 'notAUrl' | 'duplicate' | 'tooManyFields' }
  | { problem: 'unknownColumn' | 'unknownVisibility'; value: string }
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
  const { data } = Papa.parse<string[]>(text.replace(/^\uFEFF/, ''), { skipEmptyLines: false })
  const [header = [], ...lines] = data
  const columns = header.map((name) => name.trim().toLowerCase())
  const problems: CsvProblem[] = columns.filter((name) => !isColumn(name)).map((value) => ({ problem: 'unknownColumn', value }))
  if (!columns.includes('url')) return { problems: [...problems, { problem: 'noUrlColumn' }], rows: [] }
  const urls = new Set<string>()
  const rows: CsvRow[] = []
  let line = 2 + countLineEnds(header)
  for (const fields of lines) {
    if (fields.some((field) => field.trim() !== '')) rows.push(readRow(line, fields, columns, urls))
    line += 1 + countLineEnds(fields)
  }
  if (rows.length === 0) problems.push({ problem: 'noRows' })
  if (rows.length > MAX_CSV_ROWS) problems.push({ problem: 'tooManyRows', max: MAX_CSV_ROWS })
  return { problems, rows }
}

/** Returns the payload that creates the video of a row. */
export function toUploadPayload({ values }: CsvRow): Omit<Payload<'uploadVideo'>, 'organisation_id'> & { url: string } {
  const tags = values.tags
    .split(/[;,]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  return {
    url: values.url,
    ...(values.title !== '' && { name: values.title }),
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
  if (fields.length > columns.length) problems.push({ problem: 'tooManyFields' })
  for (const column of CSV_COLUMNS) {
    const max = MAX_LENGTHS[column]
    if (max !== undefined && values[column].length > max) problems.push({ problem: 'tooLong', value: column, max })
  }
  return { line, values, problems }
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
