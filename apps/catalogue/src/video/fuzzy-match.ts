/** Minimum length in characters. Shorter words are too similar to each other. */
const MIN_WORD_LENGTH = 4
const MAX_WORD_LENGTH = 40
const MAX_LENGTH_WITH_ONE_TYPO = 7

/** Returns whether a word can be a typo. Words with digits are never typos. */
export function canBeTypo(word: string): boolean {
  const { length } = [...word]
  return length >= MIN_WORD_LENGTH && length <= MAX_WORD_LENGTH && !/\p{N}/u.test(word)
}

/**
 * Returns whether `word` can be a typo of `target`: one letter is missing, added or different, or two
 * adjacent letters are swapped. Two such errors are allowed in words of eight or more letters.
 */
export function isTypoOf(word: string, target: string): boolean {
  const [a, b] = [[...word], [...target]]
  const maxTypos = a.length <= MAX_LENGTH_WITH_ONE_TYPO ? 1 : 2
  return Math.abs(a.length - b.length) <= maxTypos && countTypos(a, b) <= maxTypos
}

/** Returns the optimal string alignment distance. */
function countTypos(a: readonly string[], b: readonly string[]): number {
  let rowBeforeLast: number[] = []
  let lastRow = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const currentRow = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = a[row - 1] === b[column - 1] ? 0 : 1
      let typos = Math.min(
        readCell(lastRow, column) + 1,
        readCell(currentRow, column - 1) + 1,
        readCell(lastRow, column - 1) + substitution,
      )
      const isTransposed = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (isTransposed) typos = Math.min(typos, readCell(rowBeforeLast, column - 2) + 1)
      currentRow.push(typos)
    }
    rowBeforeLast = lastRow
    lastRow = currentRow
  }
  return readCell(lastRow, b.length)
}

/** Cells outside the matrix count as infinitely distant. */
function readCell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
