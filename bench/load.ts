import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Figures, KINDS, type Kind, type LoadOrder, type LoadRequest, percentiles } from './load-order.ts'

// Load generator process. It receives a `LoadOrder` from its parent, sends this load, and returns the
// measured figures to the parent. It exits when its parent disconnects.

/** Maximum time for which an open loop waits for the last responses after its end. */
const DRAIN_MS = 20_000

/** Times are stored in arrays of numbers and not of objects, because there are hundreds of thousands. */
interface Measurements {
  /** Number of results by kind and status (`read 200`) or error message, and of requests with `no response`. */
  counts: Record<string, number>
  /** Responses of 429 and 503. */
  rejections: number
  rejectionsWithRetryAfter: number
  /**
   * Times of responses below 300, by kind, in milliseconds. `due` is from the time at which the request
   * was due, `sent` from the time at which a connection was available for it.
   */
  times: Record<Kind, { due: number[]; sent: number[] }>
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((figures) => process.send?.(figures))
})
process.on('disconnect', () => process.exit())

async function run(order: LoadOrder): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections, maxFreeSockets: order.connections })
  const measurements: Measurements = {
    counts: {},
    rejections: 0,
    rejectionsWithRetryAfter: 0,
    times: mapKinds(() => ({ due: [], sent: [] })),
  }
  const cpu = process.cpuUsage()
  const started = performance.now()
  const until = started + order.seconds * 1_000
  let nth = 0
  /** Returns the next request with its placeholders replaced (see `LoadRequest`). */
  const buildNext = () => {
    const template = order.requests[nth++ % order.requests.length]
    if (!template) throw new Error('the load order has no requests')
    const now = String(Date.now())
    const view = randomUUID()
    const placeholders: Record<string, () => string> = {
      '{n}': () => `${order.name} ${nth}`,
      '{uuid}': randomUUID,
      '{view}': () => view,
      '{now}': () => now,
    }
    return {
      ...template,
      body: template.body?.replace(/\{(?:n|uuid|view|now)\}/g, (placeholder) => placeholders[placeholder]?.() ?? placeholder),
    }
  }
  await (order.rate === undefined ? closedLoop() : openLoop(order.rate))
  const seconds = (performance.now() - started) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  agent.destroy()
  return {
    seconds,
    sent: nth,
    counts: measurements.counts,
    rejections: measurements.rejections,
    rejectionsWithRetryAfter: measurements.rejectionsWithRetryAfter,
    times: mapKinds((kind) => ({
      fromDue: percentiles(measurements.times[kind].due),
      fromSend: percentiles(measurements.times[kind].sent),
    })),
    cpuShare: (user + system) / 1e6 / seconds,
  }

  /**
   * Each caller sends its next request after the response. After an error or a status of 300 or above,
   * it waits for 1 s.
   */
  async function closedLoop(): Promise<void> {
    const caller = async () => {
      while (performance.now() < until) if (!(await sendRequest(agent, buildNext(), performance.now(), measurements))) await delay(1_000)
    }
    await Promise.all(Array.from({ length: order.connections }, caller))
  }

  /** Requests are due at random times (a Poisson process of this rate), independent of earlier responses. */
  async function openLoop(rate: number): Promise<void> {
    const pendingRequests = new Set<Promise<unknown>>()
    let due = started
    while (due < until) {
      for (const now = performance.now(); due <= now && due < until; due -= (Math.log(1 - Math.random()) * 1_000) / rate) {
        const pending = sendRequest(agent, buildNext(), due, measurements).finally(() => pendingRequests.delete(pending))
        pendingRequests.add(pending)
      }
      await delay(1)
    }
    await Promise.race([Promise.all(pendingRequests), delay(DRAIN_MS)])
    measurements.counts['no response'] = pendingRequests.size
  }
}

function mapKinds<T>(build: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, build(kind)])) as Record<Kind, T>
}

/**
 * Sends a request and adds its result to the measurements. `due` is the time at which it was due, by
 * `performance.now()`. Resolves with true for a status below 300. Never rejects.
 */
function sendRequest(
  agent: Agent,
  { kind, method, url, headers, body }: LoadRequest,
  due: number,
  measurements: Measurements,
): Promise<boolean> {
  return new Promise((resolve) => {
    let sent = due
    const finish = (outcome: string, good: boolean) => {
      measurements.counts[`${kind} ${outcome}`] = (measurements.counts[`${kind} ${outcome}`] ?? 0) + 1
      resolve(good)
    }
    const length = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method, agent, headers: { ...headers, ...length } }, (response) => {
      const { statusCode: status = 0 } = response
      response.resume().once('end', () => {
        const now = performance.now()
        const good = status < 300
        if (good) {
          measurements.times[kind].due.push(now - due)
          measurements.times[kind].sent.push(now - sent)
        } else if (status === 429 || status === 503) {
          measurements.rejections++
          if (response.headers['retry-after'] !== undefined) measurements.rejectionsWithRetryAfter++
        }
        finish(String(status), good)
      })
      response.once('error', () => finish('response aborted', false))
    })
    outgoing.once('socket', () => {
      sent = performance.now()
    })
    outgoing.once('error', ({ message }) => finish(message, false))
    outgoing.end(body)
  })
}
