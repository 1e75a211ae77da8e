import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Condition, Policy } from './policy-document.ts'

/** What policies are signed with: the keys of the object store, or some of our own where we are the store. */
export interface SigningKeys {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The policy document as stores read it, in Base64. */
export function encodePolicy({ expires, conditions }: Policy): string {
  return Buffer.from(JSON.stringify({ expiration: expires.toISOString(), conditions: conditions.map(written) })).toString('base64')
}

function written(condition: Condition): unknown {
  if (condition.operator === 'content-length-range') return [condition.operator, condition.least, condition.most]
  if (condition.operator === 'starts-with') return [condition.operator, `$${publicName(condition.name)}`, condition.value]
  return { [publicName(condition.name)]: condition.value }
}

/** Fields are the same in any case; this one is written so everywhere. */
function publicName(name: string): string {
  return name === 'content-type' ? 'Content-Type' : name
}

/** Lower-case hex (AWS Signature Version 4 of a POST policy). */
export function signPolicy(policy: string, { secretAccessKey, region }: SigningKeys, date: string): string {
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const ofService = hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), 's3')
  return hmac(hmac(ofService, 'aws4_request'), policy).toString('hex')
}

export function isSignature(given: string, policy: string, keys: SigningKeys, date: string): boolean {
  return isSameText(given, signPolicy(policy, keys, date))
}

export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** `date` is `YYYYMMDD`. */
export function credentialOf({ accessKeyId, region }: SigningKeys, date: string): string {
  return `${accessKeyId}/${date}/${region}/s3/aws4_request`
}

export function readCredential(text: string): { date: string } | undefined {
  const [, date] = /^[^/]{1,128}\/(\d{8})\/[^/]{1,64}\/s3\/aws4_request$/.exec(text) ?? []
  return date === undefined ? undefined : { date }
}

/** A secret for one purpose, made of the one that all services share. */
export function derivedKey(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('hex')
}
