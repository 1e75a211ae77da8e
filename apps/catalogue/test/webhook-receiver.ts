import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook as Verifier } from 'standardwebhooks'

/** The payload of a received event, verified by the reference library. */
export interface ReceivedEvent {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
}

/**
 * Starts a web server that receives events. `getStatus` returns the status of each call before the
 * event is stored. Events with the response status 200 are in `received`, in order.
 */
export async function startReceiver(getStatus: (call: { number: number; id: string }) => number | Promise<number> = () => 200) {
  const received: ReceivedEvent[] = []
  const invalid: string[] = []
  const state = { calls: 0, connections: 0, max: 0, now: 0, secrets: [] as string[], headers: {} as IncomingHttpHeaders }
  const server = createServer(async (request, response) => {
    state.calls++
    state.now++
    state.max = Math.max(state.max, state.now)
    state.headers = request.headers
    const body = await text(request)
    const id = String(request.headers['webhook-id'])
    const status = await getStatus({ number: state.calls, id })
    state.now--
    if (status === 200) {
      try {
        const verified = state.secrets.map((secret) => new Verifier(secret).verify(body, request.headers as Record<string, string>))
        if (verified.length === 0) throw new Error('there is no secret to verify by')
        received.push({ id, ...(JSON.parse(body) as Omit<ReceivedEvent, 'id'>) })
      } catch (error) {
        invalid.push(String(error))
      }
    }
    response.writeHead(status, status === 307 ? { location: '/elsewhere' } : {}).end('thank you')
  })
  server.on('connection', () => state.connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** Calls with an invalid signature. */
    bad: invalid,
    state,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
