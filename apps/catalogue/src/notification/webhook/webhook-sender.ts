import { setTimeout as delay } from 'node:timers/promises'
import { guardedPost, isSourceError, type SourcePolicy } from '@vitascope/fetch'
import {
  type ActiveSpan,
  createLogLimit,
  currentTraceparent,
  type Logger,
  type LogLimit,
  type SpanDescription,
  TRACEPARENT,
  tracedFrom,
} from '@vitascope/telemetry'
import type { BusyReceivers, Sending, SendingStore } from './sending-store.ts'
import { createSignedHeaders, type SecretCipher } from './webhook-secret.ts'

export interface WebhookSender {
  start(): void
  /** Waits for active calls for `GRACE_MS`, then aborts and releases the others. */
  stop(): Promise<void>
}

/** Maximum number of concurrent calls. A call uses no database connection while it waits for its receiver. */
const MAX_IN_FLIGHT = 64
/** Maximum number of concurrent calls per webhook, so that a slow receiver does not block others. */
const MAX_PER_WEBHOOK = 4
const MAX_PER_ORGANISATION = 16
const POLL_MS = 500
const CALL_TIMEOUT_MS = 10_000
const GRACE_MS = 2_000
/** Failed attempts of a webhook are logged at most once in this time. */
const FAILURE_LOG_MS = 60_000

interface Sender {
  store: SendingStore
  cipher: SecretCipher
  policy: SourcePolicy
  log: Logger
}

export function createWebhookSender(parts: Sender): WebhookSender {
  const sender = { ...parts, limitLog: createLogLimit(FAILURE_LOG_MS) }
  const { store, log } = sender
  const stopping = new AbortController()
  const aborting = new AbortController()
  const active = new Map<Sending, Promise<void>>()
  let running: Promise<void> | undefined
  let isWakeRequested = false
  let resume = () => {}
  const wake = () => {
    isWakeRequested = true
    resume()
  }

  const runLoop = async () => {
    while (!stopping.signal.aborted) {
      isWakeRequested = false
      try {
        const sending = active.size < MAX_IN_FLIGHT ? await store.lease(findBusyReceivers([...active.keys()]), stopping.signal) : undefined
        if (sending) startSending(sending)
        else if (!isWakeRequested) await waitForWork()
      } catch (error) {
        if (stopping.signal.aborted) return
        log.warn({ err: error }, 'leasing a webhook delivery failed; retrying')
        await delay(POLL_MS)
      }
    }
  }
  /** Resolves when a call ends, or after the poll interval. */
  const waitForWork = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      resume = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const startSending = (sending: Sending) => {
    const call = tracedFrom(
      sending.traceparent,
      () => describeDelivery(sending),
      (span) => send(sender, sending, span, aborting.signal),
    )
      .catch((error: unknown) =>
        log.warn({ err: error, webhook_id: sending.webhookId }, 'recording a webhook attempt failed; its lease will expire'),
      )
      .finally(() => {
        active.delete(sending)
        wake()
      })
    active.set(sending, call)
  }

  return {
    start() {
      running = runLoop()
    },
    async stop() {
      stopping.abort()
      wake()
      await running
      const timer = setTimeout(() => aborting.abort(), GRACE_MS)
      await Promise.all(active.values())
      clearTimeout(timer)
    },
  }
}

async function send(
  { store, cipher, policy, log, limitLog }: Sender & { limitLog: LogLimit },
  sending: Sending,
  span: ActiveSpan,
  signal: AbortSignal,
): Promise<void> {
  const { webhookId: webhook_id, organisationId: organisation_id, deliveryId: delivery_id, attempt } = sending
  let status: number | undefined
  let reason: string | undefined
  try {
    const secrets = sending.sealedSecrets.map((sealed) => cipher.open(sealed, webhook_id))
    const traceparent = currentTraceparent()
    const headers = {
      ...createSignedHeaders(sending.eventId, new Date(), sending.body, secrets),
      ...(traceparent !== undefined && { [TRACEPARENT]: traceparent }),
    }
    status = (await guardedPost(sending.url, { policy, headers, body: sending.body, timeoutMs: CALL_TIMEOUT_MS, signal })).status
    span.setAttributes({ 'http.response.status_code': status })
  } catch (error) {
    if (signal.aborted) return store.release(sending)
    if (isSourceError(error)) reason = error.message
    // An example is a secret that no master key decrypts. It counts as a failed attempt.
    else log.warn({ err: error, webhook_id, delivery_id, attempt }, 'calling a webhook failed')
  }
  const outcome = await store.recordResult(sending, status)
  span.setAttributes({ 'vitascope.outcome': outcome })
  if (outcome === 'retry')
    limitLog(webhook_id, (failures) =>
      log.warn({ webhook_id, organisation_id, delivery_id, attempt, status, reason, failures }, 'webhook attempt failed; retrying'),
    )
  if (outcome === 'disabled') log.info({ webhook_id, delivery_id, attempt }, 'webhook disabled after 24 hours of failures')
}

/** The URL of a webhook may contain secrets, so it is not an attribute. */
function describeDelivery({ webhookId, deliveryId, attempt }: Sending): SpanDescription {
  return {
    name: 'deliver webhook',
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'vitascope.webhook_id': webhookId,
      'vitascope.delivery_id': deliveryId,
      'vitascope.attempt': attempt,
    },
  }
}

/** Returns the webhooks and organisations that have reached their limit of active calls. */
export function findBusyReceivers(active: readonly Pick<Sending, 'webhookId' | 'organisationId'>[]): BusyReceivers {
  const findFull = (ids: readonly string[], max: number) => {
    const counts = new Map<string, number>()
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= max).map(([id]) => id)
  }
  return {
    webhookIds: findFull(
      active.map(({ webhookId }) => webhookId),
      MAX_PER_WEBHOOK,
    ),
    organisationIds: findFull(
      active.map(({ organisationId }) => organisationId),
      MAX_PER_ORGANISATION,
    ),
  }
}
