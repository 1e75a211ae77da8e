/** The exit codes of a pod that encodes chunks of one job: what its Job is to make of its end. */
export const CHUNK_EXIT = {
  /** Nothing is left: the chunks are made, or others have them. */
  made: 0,
  /** Another pod may have more luck. */
  again: 1,
  /** No pod can: the job has ended, the source is not to be encoded, or the plan has changed. */
  over: 42,
  /** The pod was told to stop, and gave its chunk back; as a process that ends by SIGTERM. */
  stopped: 143,
} as const
