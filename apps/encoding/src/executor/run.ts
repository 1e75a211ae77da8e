/** Pods that ask for chunks of one job of encoding: each is an index of a Kubernetes Job, and makes one chunk after another. */
export interface Run {
  runId: string
  jobId: string
  /** What was to be made when it began, in order. */
  chunks: number[]
}

/** The chunk of each index, where they share the chunks of a run: the first ones, since what can be watched ends at the first gap. */
export function firstChunks({ chunks }: Pick<Run, 'chunks'>, indexes: number): number[] {
  return chunks.slice(0, indexes)
}

/** The name of its Job: the same whoever makes it, and no other run’s. */
export function nameOfRun(instance: string, { jobId, runId }: Pick<Run, 'jobId' | 'runId'>): string {
  return `${instance}-encode-${jobId}-${runId}`
}

/** Numbers of indexes as a Job’s status has them: `0,2-4`. */
export function readIndexes(text: string | undefined): number[] {
  return (text ?? '')
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [from = Number.NaN, to = from] = part.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    })
}
