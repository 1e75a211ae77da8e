import { createHmac, timingSafeEqual } from 'node:crypto'

/** Older and newer requests are rejected, so that an observer cannot send them again. */
const TOLERANCE_SECONDS = 300

/**
 * Returns the event of a request in the format of Standard Webhooks, or undefined if its signature
 * is not valid. `secret` is that of the webhook: `whsec_…`.
 */
export function verifyEvent(secret, headers, body, nowSeconds = Date.now() / 1000) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  if (!id || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS || !/^\d+$/.test(timestamp)) return undefined
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  const signatures = String(headers['webhook-signature'] ?? '').split(' ')
  const isSigned = signatures.some((signature) => {
    const [version, value = ''] = signature.split(',')
    const bytes = Buffer.from(value, 'base64')
    return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
  return isSigned ? { id, ...JSON.parse(body) } : undefined
}
