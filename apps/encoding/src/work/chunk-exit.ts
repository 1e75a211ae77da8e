/** The exit codes of a pod that encodes one chunk: what its Job is to make of its end. */
export const CHUNK_EXIT = {
  /** The chunk is made, by this pod or another. */
  made: 0,
  /** Another pod may have more luck. */
  again: 1,
  /** No pod can: the job has ended, the source is not to be encoded, or the plan has changed. */
  over: 42,
  /** The pod was told to stop, and gave the chunk back; as a process that ends by SIGTERM. */
  stopped: 143,
} as const
