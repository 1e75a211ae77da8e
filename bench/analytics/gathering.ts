const NAME = 'vitascope_analytics_batch_wait_seconds'

/**
 * Reads from the metrics of a platform the number of inserts so far, and the number that began
 * within 20 ms of their first event.
 */
export async function readGathering(metricsUrl: string): Promise<{ inserts: number; prompt: number }> {
  const response = await fetch(metricsUrl)
  if (!response.ok) throw new Error(`the metrics endpoint returned ${response.status}`)
  const text = await response.text()
  const readMetric = (start: string) => {
    const line = text.split('\n').find((one) => one.startsWith(start) && !one.startsWith('#'))
    if (line === undefined) throw new Error(`the metrics lack ${start}`)
    return Number(line.slice(line.lastIndexOf(' ')))
  }
  return { inserts: readMetric(`${NAME}_count`), prompt: readMetric(`${NAME}_bucket{le="0.02"`) }
}
