import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { sampleRoutes } from './sample-routes.ts'
import { startOrigin } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

let origin: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>
const sockets = new Set<Socket>()
/** Responses of the replacement of delivery that have not ended. */
const openResponses = new Set<ServerResponse>()

beforeEach(async () => {
  origin = await startOrigin((request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/delivery/small') {
      response.end('small')
      return
    }
    openResponses.add(response)
    response.once('close', () => openResponses.delete(response))
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  })
  gateway = await startTestGateway(sampleRoutes, { deliveryUrl: origin.url, downloads: { perAddress: 2, total: 100 } })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  await gateway.stop(0)
  await origin.stop()
})

/** Requests an endless file and does not read the response. `before` is a request that is sent in front of it, on the same connection. */
function stall(before = ''): void {
  const [host, port] = gateway.address.split(':')
  const socket = connect(Number(port), host)
  sockets.add(socket)
  socket.on('error', () => {}).pause()
  socket.write(`${before}GET /delivery/large HTTP/1.1\r\nHost: h\r\n\r\n`)
}

test.each([
  ['stalled', ''],
  ['stalled and pipelined', 'GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n'],
])('a new download replaces a %s one of the same address, and its request to delivery ends', async (_, before) => {
  stall(before)
  stall(before)
  await waitFor(() => openResponses.size === 2)
  const statuses = new Set<number>()
  await waitFor(async () => {
    const response = await fetch(`${gateway.url}/delivery/small`)
    statuses.add(response.status)
    return response.status === 200 && (await response.text()) === 'small'
  })
  for (const status of statuses) expect([200, 429]).toContain(status)
  await waitFor(() => openResponses.size === 1)
})
