const MAX_RUNS = 5

/** Returns the CPU time of this thread in milliseconds. It does not depend on the load of the machine. */
export function threadCpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * Returns the shortest of up to five measured durations in milliseconds, and measures no longer once one is below
 * `limitMs`. A pause of the machine lengthens single runs. A fault lengthens all of them.
 */
export async function shortestDurationMs(limitMs: number, measure: () => Promise<number>): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let run = 0; run < MAX_RUNS && shortest >= limitMs; run++) shortest = Math.min(shortest, await measure())
  return shortest
}
