import { createHmac, timingSafeEqual } from 'node:crypto'
import type { MasterKeys } from '@vitascope/security'

/** A policy condition as defined by object stores. */
export type Condition =
  | { operator: 'eq' | 'starts-with'; name: string; value: string }
  | { operator: 'content-length-range'; min: number; max: number }

export interface Policy {
  expires: Date
  conditions: Condition[]
}

/** Keys that sign policies: those of the object store, or derived ones for the embedded store. */
export interface SigningKeys {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export const ALGORITHM = 'AWS4-HMAC-SHA256'

/** Returns the policy document in Base64. */
export function encodePolicy({ expires, conditions }: Policy): string {
  return Buffer.from(JSON.stringify({ expiration: expires.toISOString(), conditions: conditions.map(toDocument) })).toString('base64')
}

function toDocument(condition: Condition): unknown {
  if (condition.operator === 'content-length-range') return [condition.operator, condition.min, condition.max]
  if (condition.operator === 'starts-with') return [condition.operator, `$${publicName(condition.name)}`, condition.value]
  return { [publicName(condition.name)]: condition.value }
}

/**
 * Returns the public spelling of a field. Names are case-insensitive, but this one is usually
 * capitalised.
 */
function publicName(name: string): string {
  return name === 'content-type' ? 'Content-Type' : name
}

/** Returns the signature in lower-case hex (AWS Signature Version 4 of a POST policy). */
export function signPolicy(policy: string, { secretAccessKey, region }: SigningKeys, date: string): string {
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const serviceKey = hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), 's3')
  return hmac(hmac(serviceKey, 'aws4_request'), policy).toString('hex')
}

export function isSignature(signature: string, policy: string, keys: SigningKeys, date: string): boolean {
  return isSameText(signature, signPolicy(policy, keys, date))
}

export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Returns the credential. `date` is `YYYYMMDD`. */
export function formatCredential({ accessKeyId, region }: SigningKeys, date: string): string {
  return `${accessKeyId}/${date}/${region}/s3/aws4_request`
}

export function readCredential(text: string): { date: string } | undefined {
  const [, date] = /^[^/]{1,128}\/(\d{8})\/[^/]{1,64}\/s3\/aws4_request$/.exec(text) ?? []
  return date === undefined ? undefined : { date }
}

/** Derives a secret for one purpose from each shared secret. The first signs; all verify. */
export function derivedKeys(secrets: MasterKeys, purpose: string): readonly [string, ...string[]] {
  const derive = (secret: string) => createHmac('sha256', secret).update(purpose).digest('hex')
  const [first, ...others] = secrets.current()
  return [derive(first.secret), ...others.map(({ secret }) => derive(secret))]
}
