import type { FfmpegTools } from '@vitascope/media'

/** Options of every row of the benchmark. */
export interface BenchRun {
  pairs: number
  tools: FfmpegTools
  /** Working folder of this row. */
  folder: string
}
