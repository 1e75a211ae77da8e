import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostAndPort } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { createHouseServer, openChannel, openIdentity } from '@vitascope/grpc'
import type { RunningService } from '@vitascope/process'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { DeliveryRuleServiceService } from '@vitascope/proto/catalogue/v1/delivery_rule'
import { EarlyServiceService } from '@vitascope/proto/encoding/v1/early'
import { openStorage } from '@vitascope/storage'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { createCaptionTexts } from './captions/caption-texts.ts'
import type { DeliveryConfig } from './config.ts'
import { createEarlyFiles } from './early/early-files.ts'
import { createRequestHandler } from './handle-request.ts'
import { refuse } from './problem.ts'
import { createRuleCache } from './rule-cache.ts'

/** What still runs then is cut off; players ask for the rest by a range. */
const DRAIN_MS = 3_000
/** A probe waits a little longer. */
const READY_MS = 800

export async function startDelivery(config: DeliveryConfig, log: Logger): Promise<RunningService & { address: string }> {
  const metrics = createMetrics('delivery')
  const seconds = metrics.seconds('vitascope_delivery_request_seconds', 'Requests for files, by status', ['status'])
  const { principalKey } = config
  const identity = openIdentity(config.tls, { log, metrics })
  const channel = openChannel(config.catalogueAddress, { principalKey, peer: identity?.peer('catalogue') })
  const encoding = openChannel(config.encodingAddress, { principalKey, peer: identity?.peer('encoding') })
  const handle = createRequestHandler({
    rules: createRuleCache(channel.client(DeliveryRuleServiceService)),
    storage: await openStorage(config.objects),
    bucket: config.byS3 === 'redirect' && 's3' in config.objects ? config.objects.s3 : undefined,
    captionTexts: createCaptionTexts(channel.client(CaptionServiceService)),
    early: createEarlyFiles(encoding.client(EarlyServiceService)),
    tokenKeys: config.tokenKeys,
    trustedProxies: config.trustedProxies,
  })

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const end = seconds.startTimer()
    response.setHeader('X-Request-Id', requestId(request.headers['x-request-id']))
    const hangUp = new AbortController()
    response.once('close', () => {
      end({ status: response.statusCode })
      hangUp.abort()
    })
    try {
      if (request.url === '/healthz') response.writeHead(200).end('ok\n')
      else await handle(request, response, hangUp.signal)
    } catch (error) {
      if (hangUp.signal.aborted) return
      if (response.headersSent) response.destroy()
      else if (isDomainError(error) && error.kind === 'unavailable') refuse(response, 503, 'unavailable', { 'Retry-After': '1' })
      else {
        // Paths hold tokens: only what went wrong is logged, under the id of the request.
        log.error({ err: error, request_id: response.getHeader('X-Request-Id') }, 'a file was not delivered')
        refuse(response, 500, 'internal')
      }
    }
  }
  const server = createHouseServer(
    identity,
    { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 30_000 },
    (request, response) => void answer(request, response),
  )
  const { host, port } = hostAndPort(config.listen)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  let stopping = false
  const isReady = async () => !stopping && (await channel.ready(READY_MS))
  const page = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, isReady)
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    async stop(drainMs = DRAIN_MS) {
      stopping = true
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), drainMs)
      await closed
      clearTimeout(timer)
      channel.close()
      encoding.close()
      identity?.close()
      await page.close()
    },
  }
}

/** The caller's, if sane, else a new one. */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
}
