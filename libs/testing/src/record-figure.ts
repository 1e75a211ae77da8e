import { appendFileSync } from 'node:fs'

/** Path of the file that `npm run faults` reads figures from. */
const file = process.env['VITASCOPE_FIGURES_FILE']

/**
 * Records a figure that a test measured for a fault of `tools/faults/faults.csv`, with its unit, such
 * as `recordFigure('C16', 'first write 3.2 s after the kill')`. `npm run faults` adds it to
 * docs/reference/faults.md. In other runs this function does nothing.
 */
export function recordFigure(faultId: string, figure: string): void {
  if (file) appendFileSync(file, `${JSON.stringify({ id: faultId, figure })}\n`)
}
