/** On SIGINT, SIGTERM or SIGHUP, calls `end` and exits with 1. `end` must stop everything that the benchmark has started. */
export function endOnSignal(end: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end().finally(() => process.exit(1)))
}
