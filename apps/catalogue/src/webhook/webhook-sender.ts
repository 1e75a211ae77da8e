import { setTimeout as delay } from 'node:timers/promises'
import { guardedPost, isSourceError, type SourcePolicy } from '@vitascope/fetch'
import type { Logger } from '@vitascope/telemetry'
import type { Busy, Sending, SendingStore } from './sending-store.ts'
import { type SecretBox, signedHeaders } from './webhook-secret.ts'

export interface WebhookSender {
  start(): void
  /** Lets calls under way end for a moment, and gives back what did not. */
  stop(): Promise<void>
}

/** A call holds neither a transaction nor a connection to the database, so many may wait for their receivers. */
const MOST_UNDER_WAY = 64
/** Who is slow fills no more than its own few places. */
const MOST_OF_WEBHOOK = 4
const MOST_OF_ORGANISATION = 16
const POLL_MS = 500
const CALL_MS = 10_000
const GRACE_MS = 2_000

interface Sender {
  store: SendingStore
  box: SecretBox
  policy: SourcePolicy
  log: Logger
}

export function createWebhookSender(sender: Sender): WebhookSender {
  const { store, log } = sender
  const stopping = new AbortController()
  const cutting = new AbortController()
  const underWay = new Map<Sending, Promise<void>>()
  let running: Promise<void> | undefined
  let isWoken = false
  let resume = () => {}
  const wake = () => {
    isWoken = true
    resume()
  }

  const loop = async () => {
    while (!stopping.signal.aborted) {
      isWoken = false
      try {
        const sending = underWay.size < MOST_UNDER_WAY ? await store.lease(busyOf([...underWay.keys()])) : undefined
        if (sending) begin(sending)
        else if (!isWoken) await idle()
      } catch (error) {
        log.warn({ err: error }, 'webhooks wait for the database')
        await delay(POLL_MS)
      }
    }
  }
  /** Until a call ends, or something may have become due. */
  const idle = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      resume = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const begin = (sending: Sending) => {
    const call = send(sender, sending, cutting.signal)
      .catch((error: unknown) =>
        log.warn({ err: error, webhook_id: sending.webhookId }, 'a try of a webhook was not noted: its lease ends it'),
      )
      .finally(() => {
        underWay.delete(sending)
        wake()
      })
    underWay.set(sending, call)
  }

  return {
    start() {
      running = loop()
    },
    async stop() {
      stopping.abort()
      wake()
      await running
      const timer = setTimeout(() => cutting.abort(), GRACE_MS)
      await Promise.all(underWay.values())
      clearTimeout(timer)
    },
  }
}

async function send({ store, box, policy, log }: Sender, sending: Sending, signal: AbortSignal): Promise<void> {
  const { webhookId: webhook_id, deliveryId: delivery_id, attempt } = sending
  let status: number | undefined
  try {
    const secrets = sending.sealedSecrets.map((sealed) => box.open(sealed, webhook_id))
    const headers = signedHeaders(sending.eventId, new Date(), sending.body, secrets)
    status = (await guardedPost(sending.url, { policy, headers, body: sending.body, timeoutMs: CALL_MS, signal })).status
  } catch (error) {
    if (signal.aborted) return store.release(sending)
    if (isSourceError(error)) log.debug({ webhook_id, delivery_id, attempt, reason: error.message }, 'a webhook gave no answer')
    // A secret of another master key, for one: that is told like a receiver's silence, and holds up nobody else.
    else log.warn({ err: error, webhook_id, delivery_id, attempt }, 'a webhook could not be called')
  }
  const settled = await store.settle(sending, status)
  if (settled === 'disabled') log.info({ webhook_id, delivery_id, attempt }, 'a webhook was disabled: it was down for 24 hours')
}

/** Those that have as many calls under way as they may. */
export function busyOf(underWay: readonly Pick<Sending, 'webhookId' | 'organisationId'>[]): Busy {
  const full = (ids: readonly string[], most: number) => {
    const counts = new Map<string, number>()
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= most).map(([id]) => id)
  }
  return {
    webhookIds: full(
      underWay.map(({ webhookId }) => webhookId),
      MOST_OF_WEBHOOK,
    ),
    organisationIds: full(
      underWay.map(({ organisationId }) => organisationId),
      MOST_OF_ORGANISATION,
    ),
  }
}
