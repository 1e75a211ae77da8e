import { randomBytes } from 'node:crypto'
import { createSeal, type MasterKeys } from '@vitascope/security'
import { Webhook as Signer } from 'standardwebhooks'

/** Encrypts secrets. A secret can only be decrypted for its webhook. */
export interface SecretCipher {
  seal(secret: string, webhookId: string): Buffer
  /**
   * Returns the secret. Throws if it was modified, belongs to another webhook, or was sealed with
   * another master key.
   */
  open(sealed: Buffer, webhookId: string): string
  /** Returns the bytes that every value sealed with the current key starts with. */
  prefix(): Buffer
}

const SECRET_BYTES = 32

export function createSecretCipher(keys: MasterKeys): SecretCipher {
  const { seal, open, prefix } = createSeal(keys, 'vitascope catalogue webhook secret')
  return {
    seal: (secret, webhookId) => seal(Buffer.from(secret), Buffer.from(webhookId)),
    prefix,
    open: (sealed, webhookId) => open(sealed, Buffer.from(webhookId)).toString('utf8'),
  }
}

/** Returns a new secret in the format of Standard Webhooks. */
export function createSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** Returns the headers of Standard Webhooks, with one signature per secret. */
export function createSignedHeaders(eventId: string, time: Date, body: string, secrets: readonly string[]): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(eventId, time, body)).join(' '),
  }
}
