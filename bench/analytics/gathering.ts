const NAME = 'vitascope_analytics_batch_wait_seconds'

/**
 * Reads from the metrics of a platform the number of inserts so far, and the number that began
 * within 20 ms of their first event.
 */
export async function readGathering(metricsUrl: string): Promise<{ inserts: number; prompt: number }> {
  const answer = await fetch(metricsUrl)
  if (!answer.ok) throw new Error(`the metrics endpoint returned ${answer.status}`)
  const text = await answer.text()
  const numberOf = (start: string) => {
    const line = text.split('\n').find((one) => one.startsWith(start) && !one.startsWith('#'))
    if (line === undefined) throw new Error(`the metrics lack ${start}`)
    return Number(line.slice(line.lastIndexOf(' ')))
  }
  return { inserts: numberOf(`${NAME}_count`), prompt: numberOf(`${NAME}_bucket{le="0.02"`) }
}
