import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { COSEALG, decodeAttestationObject } from '@simplewebauthn/server/helpers'
import { DomainError, invalid } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'

/** Identity of this platform in WebAuthn. */
export interface RelyingParty {
  origin: string
  /** Host of the origin. */
  rpId: string
}

/** What a response is checked against. */
export interface Expected extends RelyingParty {
  challenge: string
}

/** Response to a registration. Binary values are base64url. */
export interface AttestationResponse {
  credentialId: string
  clientData: string
  attestationObject: string
}

/** Response to a sign-in. Binary values are base64url. */
export interface AssertionResponse {
  credentialId: string
  clientData: string
  authenticatorData: string
  signature: string
}

/** Verifies responses of authenticators. The user must have been verified, by a PIN or biometrics. Throws PASSKEY_FAILED. */
export interface WebAuthn {
  verifyAttestation(
    response: AttestationResponse,
    expected: Expected,
  ): Promise<{ credentialId: string; publicKey: Uint8Array; counter: number; isBackedUp: boolean }>
  verifyAssertion(
    response: AssertionResponse,
    credential: { credentialId: string; publicKey: Uint8Array; counter: number },
    expected: Expected,
  ): Promise<{ counter: number; isBackedUp: boolean }>
}

/** Algorithms of keys that are accepted, by their COSE numbers. */
export const ALGORITHMS = [COSEALG.ES256, COSEALG.EdDSA, COSEALG.RS256]
/** An id of 1,023 bytes in base64url, the maximum of WebAuthn. */
const MAX_CREDENTIAL_ID_LENGTH = 1_364

export function createWebAuthn(log: Logger): WebAuthn {
  const reject = (error: unknown): never => {
    log.info({ err: error }, 'a passkey was rejected')
    throw passkeyFailed(error)
  }
  return {
    async verifyAttestation({ credentialId, clientData, attestationObject }, { challenge, origin, rpId }) {
      try {
        requirePlainAttestation(attestationObject)
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: {
            id: credentialId,
            rawId: credentialId,
            type: 'public-key',
            response: { clientDataJSON: clientData, attestationObject },
            clientExtensionResults: {},
          },
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: rpId,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        })
        if (!verified) throw new Error('the attestation is invalid')
        const { credential, credentialBackedUp } = registrationInfo
        if (!isCredentialId(credential.id) || credential.id !== credentialId) throw new Error('the id of the credential differs')
        return {
          credentialId,
          publicKey: credential.publicKey,
          counter: credential.counter,
          isBackedUp: credentialBackedUp,
        }
      } catch (error) {
        return reject(error)
      }
    },
    async verifyAssertion({ credentialId, clientData, authenticatorData, signature }, { publicKey, counter }, { challenge, origin, rpId }) {
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: {
            id: credentialId,
            rawId: credentialId,
            type: 'public-key',
            response: { clientDataJSON: clientData, authenticatorData, signature },
            clientExtensionResults: {},
          },
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: rpId,
          requireUserVerification: true,
          credential: { id: credentialId, publicKey: Uint8Array.from(publicKey), counter },
        })
        if (!verified) throw new Error('the signature is invalid')
        return { counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp }
      } catch (error) {
        return reject(error)
      }
    },
  }
}

/**
 * Throws unless there is no attestation statement, or one that the key of the passkey itself signed. For a statement with
 * certificates, the library would fetch their revocation lists from addresses that the certificates name. Browsers remove
 * such statements, because registrations request none.
 */
function requirePlainAttestation(attestationObject: string): void {
  const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(attestationObject, 'base64url')))
  const format = decoded.get('fmt')
  const isSelfAttestation = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !isSelfAttestation) throw new Error(`the attestation format ${format} is not accepted`)
}

/** Returns whether a text can be the id of a credential: base64url of at most 1,023 bytes. */
export function isCredentialId(text: string): boolean {
  return text.length <= MAX_CREDENTIAL_ID_LENGTH && /^[\w-]+$/.test(text)
}

/** Throws INVALID_INPUT if the text is not a URL. */
export function toRelyingParty(origin: string): RelyingParty {
  if (!URL.canParse(origin)) throw invalid([{ field: 'origin', message: 'must be an origin such as https://video.example.org' }])
  const url = new URL(origin)
  return { origin: url.origin, rpId: url.hostname }
}

/** Returns the user handle, which authenticators store with a passkey. */
export function toUserHandle(userId: string): string {
  return Buffer.from(`user:${userId}`).toString('base64url')
}

export function passkeyFailed(cause?: unknown): DomainError {
  return new DomainError('forbidden', 'PASSKEY_FAILED', 'the passkey was not accepted; begin again', { cause })
}
