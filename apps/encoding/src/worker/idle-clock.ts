/** Measures how long a worker has been idle. */
export interface IdleClock {
  /** Starts a task. Returns the function that ends it. */
  startTask(): () => void
  /** Stops the clock. `onIdle` is not called any more. */
  stop(): void
}

/**
 * Creates a clock that calls `onIdle` once after this many seconds without a task. Undefined
 * disables it.
 */
export function createIdleClock(seconds: number | undefined, onIdle: () => void): IdleClock {
  let activeTasks = 0
  let timer: NodeJS.Timeout | undefined
  const startTimer = () => {
    if (seconds !== undefined) timer = setTimeout(onIdle, seconds * 1_000)
  }
  startTimer()
  return {
    startTask() {
      activeTasks++
      clearTimeout(timer)
      return () => {
        activeTasks--
        if (activeTasks === 0) startTimer()
      }
    },
    stop() {
      seconds = undefined
      clearTimeout(timer)
    },
  }
}
