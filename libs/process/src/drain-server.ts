import type { Server } from 'node:http'

/** Closes an HTTP server. Requests that are still running after `timeoutMs` are aborted. */
export async function drainServer(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs)
  await closed
  clearTimeout(timer)
}
