/** Ends everything that a bench started when the bench itself is ended early. */
export function endOnSignal(end: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end().finally(() => process.exit(1)))
}
