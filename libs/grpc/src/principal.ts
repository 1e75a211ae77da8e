export type UserKind = 'uploader' | 'standard' | 'system'

/** The caller of a request: a guest or user that the gateway identified by the API key, or a service that calls on its own behalf. */
export type Principal =
  | { kind: 'guest' }
  | { kind: 'service'; service: string }
  | {
      kind: 'user'
      keyId: string
      userId: string
      /** The organisation that the key belongs to. */
      organisationId: string
      userType: UserKind
    }

/** A verified principal and the service whose key signed it. */
export interface SignedPrincipal {
  principal: Principal
  signer: string
}

/**
 * Services that sign for users and guests: the gateway, and encoding for the uploads that it receives. All others
 * sign only for themselves.
 */
const ON_BEHALF_OF_CALLERS: ReadonlySet<string> = new Set(['gateway', 'encoding'])

/** The service whose pods process untrusted input. Its calls are rejected unless a gRPC service lists it in `callers`. */
const UNTRUSTED_SIGNER = 'worker'

/** Returns whether a signer may sign calls for this principal. */
export function canSign(signer: string, principal: Principal): boolean {
  if (principal.kind === 'service') return principal.service === signer
  return (principal.kind === 'user' || principal.kind === 'guest') && ON_BEHALF_OF_CALLERS.has(signer)
}

/** Returns whether calls of a signer are accepted. Without a list, all signers except the worker are accepted. */
export function isAdmitted(signer: string, callers: readonly string[] | undefined): boolean {
  return callers === undefined ? signer !== UNTRUSTED_SIGNER : callers.includes(signer)
}
