import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'

/** Keeps secrets encrypted (AES-256-GCM: nonce, tag, text), each bound to its webhook. */
export interface SecretBox {
  seal(secret: string, webhookId: string): Buffer
  /** Throws when it was changed, is another webhook's, or was sealed with another master key. */
  open(sealed: Buffer, webhookId: string): string
}

const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createSecretBox(masterKey: string): SecretBox {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'vitascope catalogue webhook secret', 32))
  return {
    seal(secret, webhookId) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(webhookId))
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
    },
    open(sealed, webhookId) {
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(webhookId)).setAuthTag(tag)
      return Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8')
    },
  }
}

/** As Standard Webhooks writes them. */
export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** The headers of Standard Webhooks, with a signature of each secret. */
export function signedHeaders(eventId: string, time: Date, body: string, secrets: readonly string[]): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(eventId, time, body)).join(' '),
  }
}
