import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

/** What a page passes to an authenticator. Binary values of this file are base64url. */
export interface AuthenticatorRequest {
  challenge: string
  rpId: string
  /** Origin of the page, which browsers add. */
  origin: string
}

/** What a test changes in a correct response. */
export interface ResponseChanges {
  type?: string
  isUserVerified?: boolean
  counter?: number
  /** Signs with a key of its own instead of that of the credential. */
  isForeignKey?: boolean
  /** Number of the algorithm in the public key. */
  algorithm?: number
  format?: string
  /** Attestation statement. */
  statement?: Map<string, unknown>
  credentialId?: string
}

/** A credential that a software authenticator has created. */
export interface SoftwareCredential {
  credentialId: string
  userHandle: string
  privateKey: KeyObject
  counter: number
}

const ES256 = -7
const [USER_PRESENT, USER_VERIFIED, ATTESTED] = [0x01, 0x04, 0x40]

/** Creates an ES256 credential as an authenticator does, and the response to its registration. It counts signatures from 1. */
export function createCredential(
  { userHandle, ...request }: AuthenticatorRequest & { userHandle: string },
  changes: ResponseChanges = {},
): {
  credential: SoftwareCredential
  response: { credentialId: string; clientData: string; attestationObject: string; transports: string[] }
} {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = changes.credentialId === undefined ? randomBytes(32) : Buffer.from(changes.credentialId, 'base64url')
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  // Labels and values of COSE (RFC 9053): an EC2 key of the curve P-256.
  const coseKey = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, changes.algorithm ?? ES256],
      [-1, 1],
      [-2, Uint8Array.from(Buffer.from(x, 'base64url'))],
      [-3, Uint8Array.from(Buffer.from(y, 'base64url'))],
    ]),
  )
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length)
  const authenticatorData = Buffer.concat([
    encodeHead(request.rpId, ATTESTED, { counter: 1, ...changes }),
    Buffer.alloc(16),
    length,
    id,
    coseKey,
  ])
  const attestationObject = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, never>>([
      ['fmt', changes.format ?? 'none'],
      // Tests choose statements of any form.
      ['attStmt', (changes.statement ?? new Map()) as Map<string, never>],
      ['authData', Uint8Array.from(authenticatorData)],
    ]),
  )
  const credentialId = id.toString('base64url')
  return {
    credential: { credentialId, userHandle, privateKey, counter: 1 },
    response: {
      credentialId,
      clientData: encodeClientData(request, changes.type ?? 'webauthn.create').toString('base64url'),
      attestationObject: Buffer.from(attestationObject).toString('base64url'),
      transports: ['internal'],
    },
  }
}

/** Signs a challenge with a credential, whose counter it increases. */
export function signChallenge(credential: SoftwareCredential, request: AuthenticatorRequest, changes: ResponseChanges = {}) {
  credential.counter = changes.counter ?? credential.counter + 1
  const authenticatorData = encodeHead(request.rpId, 0, { ...changes, counter: credential.counter })
  const clientData = encodeClientData(request, changes.type ?? 'webauthn.get')
  const privateKey = changes.isForeignKey ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : credential.privateKey
  const signature = sign('sha256', Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]), privateKey)
  return {
    credentialId: changes.credentialId ?? credential.credentialId,
    clientData: clientData.toString('base64url'),
    authenticatorData: authenticatorData.toString('base64url'),
    signature: signature.toString('base64url'),
    userHandle: credential.userHandle,
  }
}

/** Returns the start of authenticator data: hash of the relying party, flags and counter (WebAuthn, section 6.1). */
function encodeHead(rpId: string, flags: number, { isUserVerified = true, counter = 0 }: ResponseChanges): Buffer {
  const head = Buffer.alloc(37)
  createHash('sha256').update(rpId).digest().copy(head)
  head.writeUInt8(flags + USER_PRESENT + (isUserVerified ? USER_VERIFIED : 0), 32)
  head.writeUInt32BE(counter, 33)
  return head
}

function encodeClientData({ challenge, origin }: AuthenticatorRequest, type: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}
