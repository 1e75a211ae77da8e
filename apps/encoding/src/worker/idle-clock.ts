/** Knows since when a worker has had nothing to do. */
export interface IdleClock {
  /** A task begins; call what it answers when it is over. */
  work(): () => void
  /** It tells nobody any more. */
  stop(): void
}

/** Calls `onIdle`, once, when nothing was under way for so many seconds, from now on; never without them. */
export function createIdleClock(seconds: number | undefined, onIdle: () => void): IdleClock {
  let underWay = 0
  let timer: NodeJS.Timeout | undefined
  const rest = () => {
    if (seconds !== undefined) timer = setTimeout(onIdle, seconds * 1_000)
  }
  rest()
  return {
    work() {
      underWay++
      clearTimeout(timer)
      return () => {
        underWay--
        if (underWay === 0) rest()
      }
    },
    stop() {
      seconds = undefined
      clearTimeout(timer)
    },
  }
}
