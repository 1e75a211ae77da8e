import { createHmac } from 'node:crypto'
import { Metadata } from '@grpc/grpc-js'
import { PRINCIPAL_HEADER, type Principal, principalKey, signPrincipal } from '@vitascope/grpc'
import type { Tenant } from './video-steps.ts'

/** A house as one sees it who would like to be the owner. */
export interface Prey {
  /** What the house signs with. */
  secret: string
  owner: Tenant
  stranger: Tenant
}

const ANOTHER_KEY = 'the key of somebody else'

export const userOf = ({ organisationId, userId }: Tenant): Principal => ({
  ...{ kind: 'user', keyId: '1', userId, organisationId, userType: 'standard' },
})

export const signed = (principal: Principal, key: string) => signPrincipal({ principal, requestId: 'r' }, principalKey(key))

export function metadataOf(entries: Record<string, string | string[]>): Metadata {
  const metadata = new Metadata()
  for (const [name, texts] of Object.entries(entries)) for (const text of [texts].flat()) metadata.add(name, text)
  return metadata
}

/** Whatever could be taken for a word on the caller, saying that it is the owner, or the system. */
export function forged({ owner }: Prey): Record<string, string> {
  const token = signed(userOf(owner), ANOTHER_KEY)
  return {
    'x-org': owner.organisationId,
    'x-organisation-id': owner.organisationId,
    'organisation-id': owner.organisationId,
    'vitascope-organisation': owner.organisationId,
    'x-user-id': owner.userId,
    'x-user-type': 'system',
    'x-principal': JSON.stringify(userOf(owner)),
    [`x-${PRINCIPAL_HEADER}`]: token,
    authorization: `Bearer ${token}`,
  }
}

/** Tokens that nobody of the house made, or that are over, by what is wrong with them. */
export function falseTokens({ secret, owner, stranger }: Prey): Record<string, string> {
  const [head = '', , signature = ''] = signed(userOf(stranger), secret).split('.')
  const [, body = ''] = signed(userOf(owner), secret).split('.')
  const now = Math.floor(Date.now() / 1_000)
  const claims = { principal: userOf(owner), request: 'r', iss: 'vitascope', iat: now, exp: now + 60 }
  return {
    'an empty token': '',
    'no token at all': 'owner',
    'a token of another key': signed(userOf(owner), ANOTHER_KEY),
    'a token of an empty key': signed({ kind: 'service', service: 'gateway' }, ''),
    'a token with another body': `${head}.${body}.${signature}`,
    'a token without a signature': `${head}.${body}.`,
    'a token that names no algorithm': handmade(secret, claims, { alg: 'none' }),
    'a token that is over': handmade(secret, { ...claims, iat: now - 180, exp: now - 120 }),
    'a token of another issuer': handmade(secret, { ...claims, iss: 'somebody' }),
  }
}

/** Metadata that must get nobody in, by what is wrong with it. */
export function nobodies(prey: Prey): [string, Record<string, string | string[]>][] {
  const { secret, owner, stranger } = prey
  const both = [signed(userOf(owner), ANOTHER_KEY), signed(userOf(stranger), secret)]
  return [
    ['no metadata', {}],
    ['forged metadata alone', forged(prey)],
    ['a false token before a good one', { [PRINCIPAL_HEADER]: both }],
    ['a false token behind a good one', { [PRINCIPAL_HEADER]: both.toReversed() }],
    ...Object.entries(falseTokens(prey)).map(([name, token]): [string, Record<string, string>] => [
      name,
      { ...forged(prey), [PRINCIPAL_HEADER]: token },
    ]),
  ]
}

/** Signed as ours are, whatever it claims. */
function handmade(secret: string, claims: Record<string, unknown>, header: unknown = { alg: 'HS256' }): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
