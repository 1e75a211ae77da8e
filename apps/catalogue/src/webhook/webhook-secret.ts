import { randomBytes } from 'node:crypto'
import { createSeal } from '@vitascope/access'
import { Webhook as Signer } from 'standardwebhooks'

/** Keeps secrets encrypted each bound to its webhook. */
export interface SecretBox {
  seal(secret: string, webhookId: string): Buffer
  /** Throws when it was changed, is another webhook's, or was sealed with another master key. */
  open(sealed: Buffer, webhookId: string): string
}

const SECRET_BYTES = 32

export function createSecretBox(masterKey: string): SecretBox {
  const { seal, open } = createSeal(masterKey, 'vitascope catalogue webhook secret')
  return {
    seal: (secret, webhookId) => seal(Buffer.from(secret), Buffer.from(webhookId)),
    open: (sealed, webhookId) => open(sealed, Buffer.from(webhookId)).toString('utf8'),
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
