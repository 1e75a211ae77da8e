/**
 * A video is divided into cells of max(1 s, duration / 1,000); the last cell may be shorter. A
 * video of unknown duration has a thousand cells of 1 s. A set of cells is a bit set that starts
 * with bit 0 of byte 0.
 */
const MAX_CELLS = 1_000
const SECOND = 1_000

/** A half-open range of a video, in milliseconds. */
export interface Span {
  from: number
  to: number
}

export function cellCount(durationMs: number): number {
  return durationMs > 0 && durationMs < MAX_CELLS * SECOND ? Math.ceil(durationMs / SECOND) : MAX_CELLS
}

/** Returns the length of a cell in milliseconds. It is not a whole number for long videos. */
export function cellLength(durationMs: number): number {
  return Math.max(SECOND, durationMs / MAX_CELLS)
}

export function emptyCells(durationMs: number): Uint8Array {
  return new Uint8Array(Math.ceil(cellCount(durationMs) / 8))
}

/** Adds the cells that a half-open span touches, in place. */
export function addSpan(cells: Uint8Array, durationMs: number, { from, to }: Span): void {
  if (to <= from) return
  const length = cellLength(durationMs)
  const last = Math.min(Math.ceil(to / length), cellCount(durationMs))
  for (let cell = Math.floor(from / length); cell < last; cell++) cells[cell >> 3] = (cells[cell >> 3] ?? 0) | (1 << (cell & 7))
}

/** Adds the cells of another set of the same video, in place. */
export function addCells(cells: Uint8Array, others: Uint8Array): void {
  for (let byte = 0; byte < cells.length; byte++) cells[byte] = (cells[byte] ?? 0) | (others[byte] ?? 0)
}

/** Returns the numbers of the cells in the set, in order. */
export function cellNumbers(cells: Uint8Array): number[] {
  const found: number[] = []
  for (let byte = 0; byte < cells.length; byte++) {
    for (let bits = cells[byte] ?? 0, cell = byte * 8; bits > 0; bits >>= 1, cell++) if (bits & 1) found.push(cell)
  }
  return found
}

export function spanOf(cell: number, durationMs: number): Span {
  const length = cellLength(durationMs)
  return { from: cell * length, to: durationMs > 0 ? Math.min((cell + 1) * length, durationMs) : (cell + 1) * length }
}

/** Returns the total length of the cells in the set, in milliseconds. */
export function lengthOf(cells: Uint8Array, durationMs: number): number {
  let whole = 0
  let rest = 0
  const last = cellCount(durationMs) - 1
  for (const cell of cellNumbers(cells)) {
    if (cell !== last) whole++
    else {
      const { from, to } = spanOf(cell, durationMs)
      rest = to - from
    }
  }
  // Multiplies once, so that the result does not depend on the order of additions.
  return whole * cellLength(durationMs) + rest
}
