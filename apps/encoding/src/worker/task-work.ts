import type { FfmpegTools } from '@vitascope/media'
import type { ObjectStorage } from '@vitascope/storage'
import type { Metrics } from '@vitascope/telemetry'
import type { StoredFile, StoredSource } from '../task/task.ts'

/** Dependencies and folders of a running task. */
export interface TaskWork {
  storage: ObjectStorage
  tools: FfmpegTools
  /** Path of LibreOffice. Undefined if there is none. */
  office: string | undefined
  /** The scratch folder of this attempt. */
  scratch: string
  stallSeconds: number
  /** Seconds of video encoded per second. */
  speed: ReturnType<Metrics['gauge']>
  /**
   * Reserves disk space for the source and for `resultBytes` of results, then returns the path of
   * the source. It may be called once per task.
   */
  getSource: (source: StoredSource, resultBytes: number) => Promise<string>
  /** Reserves disk space for a task without a source. */
  reserveDisk: (bytes: number) => Promise<void>
  /**
   * Reports files below the work prefix while the task continues. Resolves when they are recorded.
   */
  reportFiles: (files: readonly StoredFile[]) => Promise<void>
  /** Sets the progress, 0 to 1. */
  setProgress: (progress: number) => void
  signal: AbortSignal
}

/** Thrown if the plan is for another build of ffmpeg. Frames of two builds are never joined. */
export class FfmpegVersionMismatch extends Error {
  constructor() {
    super('the plan is for another build of the encoder')
    this.name = 'FfmpegVersionMismatch'
  }
}
