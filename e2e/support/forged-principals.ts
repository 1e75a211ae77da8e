import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Metadata } from '@grpc/grpc-js'
import { PRINCIPAL_HEADER, type Principal } from '@vitascope/grpc'
import { SignJWT } from 'jose'
import type { Tenant } from './video-steps.ts'

/** The platform from the view of an attacker who wants to act as the owner. */
export interface Target {
  /** Data folder with the keys of the processes. */
  dataDir: string
  owner: Tenant
  otherTenant: Tenant
}

export const toPrincipal = ({ organisationId, userId }: Tenant): Principal => ({
  ...{ kind: 'user', keyId: '1', userId, organisationId, userType: 'standard' },
})

/** Returns a valid token, signed by a process of the platform for a service. */
export function signed(principal: Principal, { dataDir }: Target, audience: string, signer = 'gateway'): Promise<string> {
  return signClaims(readSigningKey(dataDir, signer), { principal, iss: signer, aud: audience })
}

export function buildMetadata(entries: Record<string, string | string[]>): Metadata {
  const metadata = new Metadata()
  for (const [name, texts] of Object.entries(entries)) for (const text of [texts].flat()) metadata.add(name, text)
  return metadata
}

/**
 * Returns all headers that a service could misread as the identity of the owner or of the system.
 */
export async function forged({ owner }: Target): Promise<Record<string, string>> {
  const token = await signClaims(anotherKey, { principal: toPrincipal(owner), iss: 'gateway' })
  return {
    'x-org': owner.organisationId,
    'x-organisation-id': owner.organisationId,
    'organisation-id': owner.organisationId,
    'vitascope-organisation': owner.organisationId,
    'x-user-id': owner.userId,
    'x-user-type': 'system',
    'x-principal': JSON.stringify(toPrincipal(owner)),
    [`x-${PRINCIPAL_HEADER}`]: token,
    authorization: `Bearer ${token}`,
  }
}

/** Returns tokens that the service `audience` must reject, by their defect. */
export async function falseTokens(target: Target, audience: string): Promise<Record<string, string>> {
  const { dataDir, owner, otherTenant } = target
  const key = readSigningKey(dataDir, 'gateway')
  const [head = '', , signature = ''] = (await signed(toPrincipal(otherTenant), target, audience)).split('.')
  const [, body = ''] = (await signed(toPrincipal(owner), target, audience)).split('.')
  const claims = { principal: toPrincipal(owner), iss: 'gateway', aud: audience }
  const now = Math.floor(Date.now() / 1_000)
  const none = Buffer.from(JSON.stringify({ alg: 'none', kid: computeKeyId(key) })).toString('base64url')
  return {
    'an empty token': '',
    'a value that is not a token': 'owner',
    'a token signed with an unknown key': await signClaims(anotherKey, claims),
    'a token signed with an unknown key under the id of a known key': await signClaims(anotherKey, claims, computeKeyId(key)),
    'a token with another body': `${head}.${body}.${signature}`,
    'a token without a signature': `${head}.${body}.`,
    'a token with the algorithm "none"': `${none}.${body}.`,
    'a token that has expired': await signClaims(key, { ...claims, iat: now - 180, exp: now - 120 }),
    'a token of another issuer': await signClaims(key, { ...claims, iss: 'somebody' }),
    'a token for another service': await signed(toPrincipal(owner), target, audience === 'auth' ? 'catalogue' : 'auth'),
    'a token without an audience': await signClaims(key, { ...claims, aud: undefined }),
    'a token of the gateway as another service': await signed({ kind: 'service', service: 'auth' }, target, audience),
    'a token of a worker as the owner': await signed(toPrincipal(owner), target, audience, 'worker'),
    'a token of a worker as the gateway': await signed({ kind: 'service', service: 'gateway' }, target, audience, 'worker'),
    'a token of delivery as the owner': await signed(toPrincipal(owner), target, audience, 'delivery'),
  }
}

/** Returns metadata that must not authenticate a caller, by its defect. */
export async function invalidCredentials(target: Target, audience: string): Promise<[string, Record<string, string | string[]>][]> {
  const { owner, otherTenant } = target
  const forgedHeaders = await forged(target)
  const both = [
    await signClaims(anotherKey, { principal: toPrincipal(owner), iss: 'gateway' }),
    await signed(toPrincipal(otherTenant), target, audience),
  ]
  return [
    ['no metadata', {}],
    ['forged metadata alone', forgedHeaders],
    ['a false token before a good one', { [PRINCIPAL_HEADER]: both }],
    ['a false token behind a good one', { [PRINCIPAL_HEADER]: both.toReversed() }],
    ...Object.entries(await falseTokens(target, audience)).map(([name, token]): [string, Record<string, string>] => [
      name,
      { ...forgedHeaders, [PRINCIPAL_HEADER]: token },
    ]),
  ]
}

const anotherKey = generateKeyPairSync('ed25519').privateKey

function readSigningKey(dataDir: string, signer: string): KeyObject {
  return createPrivateKey(readFileSync(join(dataDir, 'secrets', 'signing-keys', `${signer}.key`)))
}

function computeKeyId(key: KeyObject): string {
  const { crv, kty, x } = createPublicKey(key).export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}

/** Signs these claims in the same format as the platform. The token is valid for 60 s, unless the claims have other times. */
function signClaims(key: KeyObject, claims: Record<string, unknown>, kid = computeKeyId(key)): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT({ iat: now, exp: now + 60, ...claims }).setProtectedHeader({ alg: 'EdDSA', kid }).sign(key)
}
