import type { FfmpegTools } from '@vitascope/media'
import type { ReportFigure } from '../figure.ts'

/** Options of every row of the benchmark. */
export interface BenchRun {
  pairs: number
  tools: FfmpegTools
  /** Working folder of this row. */
  folder: string
  report: ReportFigure
}
