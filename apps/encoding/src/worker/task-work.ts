import type { FfmpegTools } from '@vitascope/media'
import type { ObjectStorage } from '@vitascope/storage'
import type { Metrics } from '@vitascope/telemetry'
import type { StoredSource } from '../job/job.ts'
import type { StoredFile } from '../work/task.ts'

/** What a task is done with. */
export interface TaskWork {
  storage: ObjectStorage
  tools: FfmpegTools
  /** Path of LibreOffice; undefined where there is none. */
  office: string | undefined
  /** The folder of this attempt. */
  scratch: string
  stallSeconds: number
  /** Seconds of video encoded in a second. */
  speed: ReturnType<Metrics['gauge']>
  /** The source as a local file under a name of ours, when there is room for it and for so many bytes that are made of it. Once in a task. */
  getSource: (source: StoredSource, madeBytes: number) => Promise<string>
  /** The same for what has no source. */
  takeRoom: (bytes: number) => Promise<void>
  /** Tells of files below the work prefix while the task goes on; answers when they are recorded. */
  onFiles: (files: readonly StoredFile[]) => Promise<void>
  /** How far it is, 0 to 1. */
  onDone: (share: number) => void
  signal: AbortSignal
}

/** The plan was made for another build of ffmpeg; frames of two builds are never joined. */
export class AnotherBuild extends Error {
  constructor() {
    super('the plan is for another build of the encoder')
    this.name = 'AnotherBuild'
  }
}
