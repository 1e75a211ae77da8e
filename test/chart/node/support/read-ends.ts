/** End of a deleted pod. */
export interface PodEnd {
  name: string
  exitCode: number
  /** Whole seconds from the first deletion of the pod until the end of its first container. */
  seconds: number
}

/** Columns of `kubectl get` for the watch, in this order. */
export const END_COLUMNS = [
  'UID:.metadata.uid',
  'NAME:.metadata.name',
  'DELETED:.metadata.deletionTimestamp',
  'GRACE:.metadata.deletionGracePeriodSeconds',
  'CODE:.status.containerStatuses[0].state.terminated.exitCode',
  'FINISHED:.status.containerStatuses[0].state.terminated.finishedAt',
].join(',')

const NO_VALUE = '<none>'

/** Parses pod ends from the lines of a watch. */
export function readEnds() {
  // By uid, because the next pod of a StatefulSet has the same name.
  const ends = new Map<string, PodEnd>()
  const started = new Map<string, number>()
  return {
    line(text: string): void {
      const [uid = '', name = '', deleted = '', grace = '', code = '', finished = ''] = text.trim().split(/\s+/)
      if (deleted === NO_VALUE) return
      // The first deletion time counts. After all containers have ended, the pod is deleted again
      // without grace period, which changes the time.
      const since = Math.min(started.get(uid) ?? Number.POSITIVE_INFINITY, Date.parse(deleted) - Number(grace) * 1_000)
      started.set(uid, since)
      if (finished !== NO_VALUE) ends.set(uid, { name, exitCode: Number(code), seconds: (Date.parse(finished) - since) / 1_000 })
    },
    ends: (): PodEnd[] => [...ends.values()],
  }
}
