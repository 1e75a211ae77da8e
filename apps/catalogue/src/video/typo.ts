/** Characters. Words shorter than this are too much like one another. */
const SHORTEST = 4
const LONGEST = 40
const ONE_TYPO_UNTIL = 7

/** Numbers are never typos of one another. */
export function mayBeTypo(written: string): boolean {
  const { length } = [...written]
  return length >= SHORTEST && length <= LONGEST && !/\p{N}/u.test(written)
}

/**
 * Whether a word is so near to another that it may be a typo of it: one letter left out, added, changed, or exchanged with its
 * neighbour; two in words of eight letters and more.
 */
export function isTypoOf(written: string, meant: string): boolean {
  const [a, b] = [[...written], [...meant]]
  const most = a.length <= ONE_TYPO_UNTIL ? 1 : 2
  return Math.abs(a.length - b.length) <= most && typosBetween(a, b) <= most
}

/** The optimal string alignment distance. */
function typosBetween(a: readonly string[], b: readonly string[]): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const next = [row]
    for (let column = 1; column <= b.length; column++) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1
      let typos = Math.min(at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + changed)
      const exchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (exchanged) typos = Math.min(typos, at(beforeLast, column - 2) + 1)
      next.push(typos)
    }
    beforeLast = last
    last = next
  }
  return at(last, b.length)
}

/** Beyond the edge nothing is nearer. */
function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
