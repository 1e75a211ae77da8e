/**
 * A run: chunks of one job that one Kubernetes Job encodes. Each index of the Kubernetes Job is a
 * pod that encodes one chunk after another.
 */
export interface ChunkRun {
  runId: string
  jobId: string
  /** The open chunks at the start of the run, in order. */
  chunks: number[]
}

/**
 * Returns the first chunk of each index. The pods share the chunks of a run, and start with the
 * first ones, because playback of an unfinished video ends at the first missing chunk.
 */
export function firstChunks({ chunks }: Pick<ChunkRun, 'chunks'>, indexes: number): number[] {
  return chunks.slice(0, indexes)
}

/** Returns the name of the Kubernetes Job. It is deterministic, and unique per run. */
export function kubernetesJobName(instance: string, { jobId, runId }: Pick<ChunkRun, 'jobId' | 'runId'>): string {
  return `${instance}-encode-${jobId}-${runId}`
}

/** Parses the index ranges in the status of a Kubernetes Job: `0,2-4`. */
export function readIndexes(text: string | undefined): number[] {
  return (text ?? '')
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [from = Number.NaN, to = from] = range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    })
}
