import { formatCsv, parseCsv } from './csv.ts'

/** Result of the last run of a test file, for one of its faults. */
export interface FaultResult {
  id: string
  /** Path of the test file, relative to the root. */
  test: string
  /** Figures that the test measured, or an empty text. */
  figure: string
  passed: boolean
}

const HEADER = ['id', 'test', 'figure', 'passed']

/** Parses `figures.csv`. */
export function readResults(text: string): FaultResult[] {
  return parseCsv(text).map((cells) => {
    const [id = '', test = '', figure = '', passed = ''] = cells
    if (cells.length !== HEADER.length || !['yes', 'no'].includes(passed)) throw new Error(`not a row of figures.csv: ${cells.join(',')}`)
    return { id, test, figure, passed: passed === 'yes' }
  })
}

export function formatResults(results: readonly FaultResult[]): string {
  return formatCsv(
    HEADER,
    results.map(({ id, test, figure, passed }) => [id, test, figure, passed ? 'yes' : 'no']),
  )
}

/**
 * Parses the lines that `recordFigure` of libs/testing wrote. Returns the figures of each fault in
 * the order in which they were recorded. A repeated figure counts once.
 */
export function readRecords(text: string): Map<string, string[]> {
  const figures = new Map<string, string[]>()
  for (const line of text.split('\n').filter(Boolean)) {
    const { id, figure } = JSON.parse(line) as { id: string; figure: string }
    if (/[\n|]/.test(figure)) throw new Error(`a figure must not contain line breaks or "|": ${figure}`)
    figures.set(id, [...new Set([...(figures.get(id) ?? []), figure])])
  }
  return figures
}

/** A test file with the ids of its first line. */
export interface TaggedTest {
  test: string
  ids: readonly string[]
}

/**
 * Returns the results of a test file. Throws if it recorded a figure of a fault that its first line
 * does not name.
 */
export function testResults({ test, ids }: TaggedTest, { passed, records }: { passed: boolean; records: string }): FaultResult[] {
  const figures = readRecords(records)
  const unknown = [...figures.keys()].filter((id) => !ids.includes(id))
  if (unknown.length > 0) throw new Error(`the first line of ${test} does not name ${unknown.join(', ')}`)
  return ids.map((id) => ({ id, test, figure: figures.get(id)?.join('; ') ?? '', passed }))
}

/**
 * Replaces the results of the test files that ran. Removes results of tags that no longer exist.
 * Returns them in the order of `faultIds`, then of `tests`.
 */
export function mergeResults(
  previous: readonly FaultResult[],
  next: readonly FaultResult[],
  { faultIds, tests }: { faultIds: readonly string[]; tests: readonly TaggedTest[] },
): FaultResult[] {
  return faultIds.flatMap((id) =>
    tests
      .filter(({ ids }) => ids.includes(id))
      .flatMap(({ test }) => {
        const isSame = (result: FaultResult) => result.id === id && result.test === test
        return next.find(isSame) ?? previous.find(isSame) ?? []
      }),
  )
}

/** Returns the cells "last figure" and "result" of a fault. `testCount` is the number of its test files. */
export function summariseResults(results: readonly FaultResult[], testCount: number): { figure: string; result: string } {
  const figure = results
    .map((result) => result.figure)
    .filter(Boolean)
    .join('; ')
  if (results.length === 0) return { figure, result: '' }
  const result = results.every(({ passed }) => passed) ? 'passed' : 'failed'
  return { figure, result: results.length < testCount ? `${result} (${results.length} of ${testCount} files)` : result }
}
