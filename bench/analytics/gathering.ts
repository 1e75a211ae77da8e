const NAME = 'vitascope_analytics_gathering_seconds'

/** How many inserts began so far, and how many of them within 20 ms of the first event that they hold; from the metrics of a platform. */
export async function readGathering(metricsUrl: string): Promise<{ inserts: number; prompt: number }> {
  const answer = await fetch(metricsUrl)
  if (!answer.ok) throw new Error(`the metrics answer ${answer.status}`)
  const text = await answer.text()
  const numberOf = (start: string) => {
    const line = text.split('\n').find((one) => one.startsWith(start) && !one.startsWith('#'))
    if (line === undefined) throw new Error(`the metrics have no ${start}`)
    return Number(line.slice(line.lastIndexOf(' ')))
  }
  return { inserts: numberOf(`${NAME}_count`), prompt: numberOf(`${NAME}_bucket{le="0.02"`) }
}
