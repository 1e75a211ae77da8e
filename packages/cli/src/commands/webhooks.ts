import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Payload, VitascopeError, verifyWebhook } from '@vitascope/sdk'
import { type Context, UsageError } from '../context.ts'
import { printRows } from '../output.ts'

export async function listWebhooks({ vitascope, output }: Context): Promise<void> {
  printRows(output, await vitascope.webhooks.list().toArray(), ['webhook_id', 'url', 'enabled', 'events'])
}

export type EventType = Payload<'createWebhook'>['events'][number]

export interface ListenFlags {
  events: readonly EventType[]
  host: string
  port: number
  publicUrl?: string
  forward?: string
}

/**
 * Creates a webhook that points to this process, prints each event, and forwards it with its headers. Deletes the
 * webhook at the end, which is Ctrl-C.
 */
export async function listen({ events, host, port, publicUrl, forward }: ListenFlags, context: Context): Promise<void> {
  const { vitascope, output, signal } = context
  if (forward !== undefined && !URL.canParse(forward)) throw new UsageError('--forward must be a URL, such as http://localhost:3000/hook')
  let secret = ''
  const server = createServer(async (request, response) => {
    const body = await text(request)
    try {
      const event = await verifyWebhook(body, request.headers, secret)
      output.print(output.isJson ? JSON.stringify(event) : `${event.timestamp}  ${event.type}  ${JSON.stringify(event.data)}`)
      const status = forward === undefined ? 204 : await forwardEvent(forward, request.headers, body)
      response.writeHead(status).end()
    } catch (error) {
      const isForged = error instanceof VitascopeError
      output.note(isForged ? `rejected a request: ${error.message}` : `forwarding failed: ${String(error)}`)
      response.writeHead(isForged ? 400 : 502).end()
    }
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const { port: boundPort } = server.address() as AddressInfo
  const url = publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}/`
  try {
    const webhook = await vitascope.webhooks.create({ organisation_id: context.requireOrganisation(), url, events: [...events] })
    secret = webhook.secret
    output.note(`listening at ${url} (webhook ${webhook.webhook_id}); Ctrl-C ends it`)
    try {
      // Until the signal aborts.
      await delay(2 ** 31 - 1, undefined, { signal }).catch(() => {})
    } finally {
      await vitascope.webhooks.delete(webhook.webhook_id)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Returns the status of the local server, so that the platform repeats events which it rejects. */
async function forwardEvent(url: string, headers: NodeJS.Dict<string | string[]>, body: string): Promise<number> {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
  const kept = names.flatMap((name): [string, string][] => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []))
  const response = await fetch(url, { method: 'POST', headers: kept, body, signal: AbortSignal.timeout(10_000) })
  await response.body?.cancel()
  return response.status
}
