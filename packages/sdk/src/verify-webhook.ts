import { fromBase64 } from './base64.ts'
import { invalidArgument, VitascopeError } from './error.ts'
import type { Schemas } from './operation.ts'

/**
 * Event of a webhook, by `type`. A later version of the platform may send other types to a webhook
 * that has them in `events`: ignore them in `default` of a `switch`.
 */
export type WebhookEvent = {
  [Name in keyof Schemas]: Name extends `${string}Event` ? Schemas[Name] : never
}[keyof Schemas]

/** Headers of fetch, or of a request of Node.js. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** Maximum difference between the time of the event and that of this machine, in seconds. Default: 300. */
  toleranceSeconds?: number
}

const DEFAULT_TOLERANCE_SECONDS = 300
const PREFIX = 'whsec_'

/**
 * Verifies a request to your webhook and returns its event. `body` is the body as it was received:
 * JSON that was parsed and written again has another signature. `secret` is that of the webhook
 * (`whsec_…`), or a list of secrets. The id of the event for the detection of repeated deliveries is in
 * the header `webhook-id`.
 *
 * Throws a `VitascopeError`: `webhook_invalid` if a header is missing or no signature matches,
 * `webhook_expired` if the time is outside the tolerance, `invalid_argument` for a malformed secret.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => readHeader(headers, `webhook-${name}`))
  if (id === undefined || timestamp === undefined || signatures === undefined || !/^\d{1,12}$/.test(timestamp)) {
    throw invalid('The request is not an event: webhook-id, webhook-timestamp or webhook-signature is missing or malformed.')
  }
  const payload = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + payload.length)
  signed.set(head)
  signed.set(payload, head.length)
  const keys = await Promise.all((typeof secret === 'string' ? [secret] : secret).map(importSecret))
  if (!(await hasSignature(signatures, keys, signed))) {
    throw invalid('The signature of the event does not match. Pass the body as it was received, and the secret of this webhook.')
  }
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new VitascopeError(`The event was sent at another time than now (more than ${toleranceSeconds} s).`, { code: 'webhook_expired' })
  }
  return parseEvent(new TextDecoder().decode(payload))
}

function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof entry === 'string' ? entry : entry?.[0]
}

function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(PREFIX) ? fromBase64(secret.slice(PREFIX.length)) : undefined
  if (bytes === undefined || bytes.length === 0) throw invalidArgument('The secret of a webhook begins with whsec_, followed by Base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** `crypto.subtle.verify` compares in constant time. */
async function hasSignature(header: string, keys: readonly CryptoKey[], signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  for (const part of header.split(' ')) {
    const signature = part.startsWith('v1,') ? fromBase64(part.slice(3)) : undefined
    if (signature === undefined) continue
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  }
  return false
}

function parseEvent(text: string): WebhookEvent {
  try {
    const event = JSON.parse(text) as WebhookEvent
    if (typeof event?.type === 'string') return event
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw invalid('The body of the event is not a JSON object with a type.')
}

function invalid(message: string): VitascopeError {
  return new VitascopeError(message, { code: 'webhook_invalid' })
}
