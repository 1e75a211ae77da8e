/** Pods that ask for chunks of one job of encoding: one index of a Kubernetes Job for each chunk. */
export interface Run {
  runId: string
  jobId: string
  /** The chunk of each index, in order. */
  chunks: number[]
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
