import { createServer } from 'node:http'

/**
 * A service whose database does not respond needs two seconds, because some of its metrics come from there.
 */
const TIMEOUT_MS = 5_000

/**
 * Serves the combined metrics of all services on the operations port. Each metric family appears
 * once.
 */
export async function serveMetricsPage(
  listen: { host: string; port: number },
  sources: readonly string[],
): Promise<{ stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    const pages = await Promise.all(sources.map(readPage))
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(joinPages(pages))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(listen.port, listen.host, resolve))
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Returns the metrics of a service. `source` is its name, a space and its URL. If the service is
 * unavailable, the metrics consist of `up 0`.
 */
async function readPage(source: string): Promise<string> {
  const [name, url] = source.split(' ')
  const up = (value: number) => `# HELP up Whether the service responded.\n# TYPE up gauge\nup{service="${name}"} ${value}\n`
  try {
    const response = await fetch(url ?? '', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return up(1) + (await response.text())
  } catch {
    return up(0)
  }
}

export function joinPages(pages: readonly string[]): string {
  const families = new Map<string, { head: string[]; lines: string[] }>()
  for (const page of pages) {
    let family = { head: [] as string[], lines: [] as string[] }
    for (const line of page.split('\n')) {
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1]
      if (name) {
        family = families.get(name) ?? { head: [], lines: [] }
        families.set(name, family)
        if (!family.head.includes(line)) family.head.push(line)
      } else if (line !== '') family.lines.push(line)
    }
  }
  return `${[...families.values()].flatMap(({ head, lines }) => [...head, ...lines]).join('\n')}\n`
}
