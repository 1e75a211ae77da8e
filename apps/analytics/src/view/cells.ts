/**
 * A video is divided into cells of max(1 s, duration / 1,000). The last cell may be shorter. A video
 * of unknown duration has 1,000 cells of 1 s. A set of cells is a bit set that starts with bit 0 of
 * byte 0.
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

/** Returns the length of a cell in milliseconds. It can be a fraction for long videos. */
export function cellLength(durationMs: number): number {
  return Math.max(SECOND, durationMs / MAX_CELLS)
}

export function createCells(durationMs: number): Uint8Array {
  return new Uint8Array(Math.ceil(cellCount(durationMs) / 8))
}

/** Adds the cells that a span overlaps, in place. */
export function addSpan(cells: Uint8Array, durationMs: number, { from, to }: Span): void {
  if (to <= from) return
  const length = cellLength(durationMs)
  const last = Math.min(Math.ceil(to / length), cellCount(durationMs))
  for (let cell = Math.floor(from / length); cell < last; cell++) cells[cell >> 3] = (cells[cell >> 3] ?? 0) | (1 << (cell & 7))
}

/** Adds the cells of a second set of the same video, in place. */
export function addCells(cells: Uint8Array, addedCells: Uint8Array): void {
  for (let byte = 0; byte < cells.length; byte++) cells[byte] = (cells[byte] ?? 0) | (addedCells[byte] ?? 0)
}

/** Returns the numbers of the cells in the set, in order. */
export function listCells(cells: Uint8Array): number[] {
  const numbers: number[] = []
  for (let byte = 0; byte < cells.length; byte++) {
    for (let bits = cells[byte] ?? 0, cell = byte * 8; bits > 0; bits >>= 1, cell++) if (bits & 1) numbers.push(cell)
  }
  return numbers
}

export function cellSpan(cell: number, durationMs: number): Span {
  const length = cellLength(durationMs)
  return { from: cell * length, to: durationMs > 0 ? Math.min((cell + 1) * length, durationMs) : (cell + 1) * length }
}

/** Returns the total length of the cells in the set, in milliseconds. */
export function totalLength(cells: Uint8Array, durationMs: number): number {
  let fullCells = 0
  let lastCellLength = 0
  const last = cellCount(durationMs) - 1
  for (const cell of listCells(cells)) {
    if (cell !== last) fullCells++
    else {
      const { from, to } = cellSpan(cell, durationMs)
      lastCellLength = to - from
    }
  }
  // One multiplication avoids the rounding errors of up to 1,000 additions.
  return fullCells * cellLength(durationMs) + lastCellLength
}
