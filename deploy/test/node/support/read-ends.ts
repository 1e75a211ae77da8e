/** How a pod that was deleted ended. */
export interface PodEnd {
  name: string
  exitCode: number
  /** From the moment when it was deleted, in whole seconds. */
  seconds: number
}

/** What a watch of pods has to tell, in this order, as the columns of `kubectl get`. */
export const END_COLUMNS = [
  'UID:.metadata.uid',
  'NAME:.metadata.name',
  'DELETED:.metadata.deletionTimestamp',
  'GRACE:.metadata.deletionGracePeriodSeconds',
  'CODE:.status.containerStatuses[0].state.terminated.exitCode',
  'FINISHED:.status.containerStatuses[0].state.terminated.finishedAt',
].join(',')

const NOTHING = '<none>'

/** Makes ends of pods out of the lines of a watch. */
export function readEnds() {
  // By uid: the next pod of a stateful set has the name of the one before.
  const ends = new Map<string, PodEnd>()
  const begun = new Map<string, number>()
  return {
    line(text: string): void {
      const [uid = '', name = '', deleted = '', grace = '', code = '', finished = ''] = text.trim().split(/\s+/)
      if (deleted === NOTHING) return
      // The first word counts: when all of it has ended it is deleted once more, without any grace, and as if that were the time.
      const since = Math.min(begun.get(uid) ?? Number.POSITIVE_INFINITY, Date.parse(deleted) - Number(grace) * 1_000)
      begun.set(uid, since)
      if (finished !== NOTHING) ends.set(uid, { name, exitCode: Number(code), seconds: (Date.parse(finished) - since) / 1_000 })
    },
    ends: (): PodEnd[] => [...ends.values()],
  }
}
