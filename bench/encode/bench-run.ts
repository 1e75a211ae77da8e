import type { FfmpegTools } from '@vitascope/media'

/** What every row of the benchmark gets. */
export interface BenchRun {
  pairs: number
  tools: FfmpegTools
  /** Its own, to be filled. */
  folder: string
}
