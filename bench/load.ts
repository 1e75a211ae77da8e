import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Figures, type LoadOrder, type LoadRequest, percentiles } from './load-order.ts'

// Load generator process. It sends the requested load, reports figures, and exits with its parent.

const LAST_ANSWERS_MS = 20_000

/** Samples are stored in arrays of numbers, because there are hundreds of thousands. */
interface Seen {
  counts: Record<string, number>
  refusals: number
  refusalsWithRetryAfter: number
  /**
   * Times of good responses by kind, in milliseconds: from the due time, and from when a connection
   * was available.
   */
  times: Record<LoadRequest['kind'], { due: number[]; sent: number[] }>
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((figures) => process.send?.(figures))
})
process.on('disconnect', () => process.exit())

async function run(order: LoadOrder): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections, maxFreeSockets: order.connections })
  const seen: Seen = {
    counts: {},
    refusals: 0,
    refusalsWithRetryAfter: 0,
    times: { read: { due: [], sent: [] }, write: { due: [], sent: [] } },
  }
  const cpu = process.cpuUsage()
  const started = performance.now()
  const until = started + order.seconds * 1_000
  let nth = 0
  const next = () => {
    const ask = order.asks[nth++ % order.asks.length]
    if (!ask) throw new Error('the load order has no requests')
    const now = String(Date.now())
    const view = randomUUID()
    const fill: Record<string, () => string> = {
      '{n}': () => `${order.name} ${nth}`,
      '{uuid}': randomUUID,
      '{view}': () => view,
      '{now}': () => now,
    }
    return { ...ask, body: ask.body?.replace(/\{(?:n|uuid|view|now)\}/g, (place) => fill[place]?.() ?? place) }
  }
  await (order.rate === undefined ? closedLoop() : openLoop(order.rate))
  const seconds = (performance.now() - started) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  agent.destroy()
  return {
    seconds,
    asked: nth,
    counts: seen.counts,
    refusals: seen.refusals,
    refusalsWithRetryAfter: seen.refusalsWithRetryAfter,
    reads: { fromDue: percentiles(seen.times.read.due), fromSent: percentiles(seen.times.read.sent) },
    writes: { fromDue: percentiles(seen.times.write.due), fromSent: percentiles(seen.times.write.sent) },
    cpuShare: (user + system) / 1e6 / seconds,
  }

  /**
   * Each caller sends its next request after the response. After a rejection it waits for
   * `Retry-After`.
   */
  async function closedLoop(): Promise<void> {
    const caller = async () => {
      while (performance.now() < until) if (!(await ask(agent, next(), performance.now(), seen))) await delay(1_000)
    }
    await Promise.all(Array.from({ length: order.connections }, caller))
  }

  /** Requests are due at random times of this rate, independent of earlier requests. */
  async function openLoop(rate: number): Promise<void> {
    const underWay = new Set<Promise<unknown>>()
    let due = started
    while (due < until) {
      for (const now = performance.now(); due <= now && due < until; due -= (Math.log(1 - Math.random()) * 1_000) / rate) {
        const asked = ask(agent, next(), due, seen).finally(() => underWay.delete(asked))
        underWay.add(asked)
      }
      await delay(1)
    }
    await Promise.race([Promise.all(underWay), delay(LAST_ANSWERS_MS)])
    seen.counts['no answer'] = underWay.size
  }
}

/** Resolves with true for a good response. */
function ask(agent: Agent, { kind, method, url, headers, body }: LoadRequest, due: number, seen: Seen): Promise<boolean> {
  return new Promise((resolve) => {
    let sent = due
    const end = (what: string, good: boolean) => {
      seen.counts[`${kind} ${what}`] = (seen.counts[`${kind} ${what}`] ?? 0) + 1
      resolve(good)
    }
    const length = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sending = request(url, { method, agent, headers: { ...headers, ...length } }, (response) => {
      const { statusCode: status = 0 } = response
      response.resume().once('end', () => {
        const now = performance.now()
        const good = status < 300
        if (good) {
          seen.times[kind].due.push(now - due)
          seen.times[kind].sent.push(now - sent)
        } else if (status === 429 || status === 503) {
          seen.refusals++
          if (response.headers['retry-after'] !== undefined) seen.refusalsWithRetryAfter++
        }
        end(String(status), good)
      })
      response.once('error', () => end('broken', false))
    })
    sending.once('socket', () => {
      sent = performance.now()
    })
    sending.once('error', ({ message }) => end(message, false))
    sending.end(body)
  })
}
