import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { V1Job, V1JobStatus } from '@kubernetes/client-node'

/**
 * The part of the Kubernetes API that the executor calls, with its error behaviour.
 * test/chart/cluster uses the real API.
 */
export interface StandInKubernetes {
  /** Path of the kubeconfig. */
  kubeconfig: string
  /** Existing Jobs by name. */
  jobs: Map<string, V1Job>
  /** Names of created Jobs, one entry per creation. */
  created: string[]
  /** Sets a status, as the Job controller does. */
  setStatus(name: string, status: V1JobStatus): void
  /** Changes a Job as another client. */
  put(job: V1Job): void
  drop(name: string): void
  /** The next creation succeeds, but its response is lost. */
  loseNextResponse(): void
  /** Ends all watches in the middle of a line. */
  cutWatches(): void
  /**
   * Discards the history. Watches of older versions then get 410. Active watches get this error in
   * their stream.
   */
  compact(): void
  /** Requests get no response until `resumeResponses`. */
  stopResponses(): void
  resumeResponses(): void
  watches(): number
  stop(): Promise<void>
}

interface Event {
  version: number
  line: string
}

export async function startKubernetes(folder: string): Promise<StandInKubernetes> {
  const jobs = new Map<string, V1Job>()
  const created: string[] = []
  const watches = new Set<ServerResponse>()
  let events: Event[] = []
  let version = 1
  let oldest = 0
  let shouldLoseResponse = false
  let isUnresponsive = false

  const notify = (type: string, job: V1Job) => {
    version++
    const object = { ...job, metadata: { ...job.metadata, resourceVersion: String(version) } }
    if (type === 'DELETED') jobs.delete(getName(job))
    else jobs.set(getName(job), object)
    events.push({ version, line: `${JSON.stringify({ type, object })}\n` })
    for (const watch of watches) watch.write(events.at(-1)?.line)
  }
  const watch = (result: ServerResponse, since: number) => {
    if (since < oldest) return reply(result, 410, { kind: 'Status', code: 410, message: 'too old resource version' })
    result.writeHead(200, { 'content-type': 'application/json' })
    result.flushHeaders()
    for (const event of events) if (event.version > since) result.write(event.line)
    watches.add(result)
    result.on('close', () => watches.delete(result))
  }
  const handle = async (request: IncomingMessage, result: ServerResponse) => {
    if (isUnresponsive) return request.socket.destroy()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://cluster')
    const [, name] = /^\/apis\/batch\/v1\/namespaces\/media\/jobs(?:\/([^/]+))?$/.exec(pathname) ?? []
    if (pathname === '/api/v1/namespaces/media/configmaps/vitascope')
      return reply(result, 200, { metadata: { name: 'vitascope', uid: 'owner-uid' } })
    if (!pathname.startsWith('/apis/batch/v1/namespaces/media/jobs')) return reply(result, 404, { kind: 'Status', code: 404 })
    if (request.method === 'POST') {
      const job = (await readBody(request)) as V1Job
      if (jobs.has(getName(job))) return reply(result, 409, { kind: 'Status', code: 409, reason: 'AlreadyExists' })
      created.push(getName(job))
      notify('ADDED', { ...job, metadata: { ...job.metadata, uid: randomUUID() } })
      if (!shouldLoseResponse) return reply(result, 201, job)
      shouldLoseResponse = false
      return request.socket.destroy()
    }
    if (request.method === 'DELETE') {
      const job = jobs.get(name ?? '')
      const { preconditions } = (await readBody(request)) as { preconditions?: { uid: string } }
      if (!job) return reply(result, 404, { kind: 'Status', code: 404 })
      if (preconditions?.uid !== job.metadata?.uid) return reply(result, 409, { kind: 'Status', code: 409, reason: 'Conflict' })
      notify('DELETED', job)
      return reply(result, 200, { kind: 'Status', status: 'Success' })
    }
    if (name !== undefined) {
      const job = jobs.get(name)
      return job ? reply(result, 200, job) : reply(result, 404, { kind: 'Status', code: 404 })
    }
    if (searchParams.get('watch') === 'true') return watch(result, Number(searchParams.get('resourceVersion')))
    const selected = [...jobs.values()].filter((job) => isSelected(job, searchParams.get('labelSelector') ?? ''))
    return reply(result, 200, { kind: 'JobList', metadata: { resourceVersion: String(version) }, items: selected })
  }

  const server = createServer((request, result) => {
    handle(request, result).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const kubeconfig = join(folder, 'kubeconfig')
  const cluster = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'insecure-skip-tls-verify': true }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(kubeconfig, JSON.stringify(config))

  return {
    kubeconfig,
    jobs,
    created,
    setStatus(name, status) {
      const job = jobs.get(name)
      if (!job) throw new Error(`there is no Job ${name}`)
      notify('MODIFIED', { ...job, status })
    },
    put: (job) => notify('ADDED', { ...job, metadata: { ...job.metadata, uid: randomUUID() } }),
    drop(name) {
      const job = jobs.get(name)
      if (job) notify('DELETED', job)
    },
    loseNextResponse() {
      shouldLoseResponse = true
    },
    cutWatches() {
      for (const result of watches) {
        result.write('{"type":"MODI')
        result.destroy()
      }
    },
    compact() {
      version++
      oldest = version
      events = []
      for (const result of watches) {
        watches.delete(result)
        result.end(`${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old' } })}\n`)
      }
    },
    stopResponses() {
      isUnresponsive = true
      server.closeAllConnections()
    },
    resumeResponses() {
      isUnresponsive = false
    },
    watches: () => watches.size,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function getName({ metadata }: V1Job): string {
  return metadata?.name ?? ''
}

function isSelected({ metadata }: V1Job, selector: string): boolean {
  return selector.split(',').every((part) => {
    const [key = '', value] = part.split('=')
    return metadata?.labels?.[key] === value
  })
}

function reply(result: ServerResponse, status: number, body: unknown): void {
  result.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}
