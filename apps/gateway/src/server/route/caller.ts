import type { UserKind } from '@vitascope/grpc'

/**
 * The caller according to its key. On a public route, a caller whose key lacks the resource is a
 * guest.
 */
export type Caller =
  | { kind: 'guest' }
  | {
      kind: 'user'
      keyId: string
      userId: string
      organisationId: string
      userType: UserKind
      resources: ReadonlySet<string>
      /** The key itself, for the routes that return it. It is never logged. */
      key: string
    }
