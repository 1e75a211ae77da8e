/** In characters. Shorter words are too similar to one another. */
const MIN_WORD_LENGTH = 4
const MAX_WORD_LENGTH = 40
const ONE_TYPO_UNTIL = 7

/** Returns whether a word can be a typo. Numbers never are. */
export function mayBeTypo(written: string): boolean {
  const { length } = [...written]
  return length >= MIN_WORD_LENGTH && length <= MAX_WORD_LENGTH && !/\p{N}/u.test(written)
}

/**
 * Returns whether a word may be a typo of another: one letter is missing, added or different, or
 * two adjacent letters are swapped. Two such errors are allowed in words of eight or more letters.
 */
export function isTypoOf(written: string, meant: string): boolean {
  const [a, b] = [[...written], [...meant]]
  const maxTypos = a.length <= ONE_TYPO_UNTIL ? 1 : 2
  return Math.abs(a.length - b.length) <= maxTypos && typosBetween(a, b) <= maxTypos
}

/** Returns the optimal string alignment distance. */
function typosBetween(a: readonly string[], b: readonly string[]): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const next = [row]
    for (let column = 1; column <= b.length; column++) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1
      let typos = Math.min(cellAt(last, column) + 1, cellAt(next, column - 1) + 1, cellAt(last, column - 1) + changed)
      const exchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (exchanged) typos = Math.min(typos, cellAt(beforeLast, column - 2) + 1)
      next.push(typos)
    }
    beforeLast = last
    last = next
  }
  return cellAt(last, b.length)
}

/** Cells outside the matrix count as infinitely distant. */
function cellAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
