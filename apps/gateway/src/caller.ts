import type { UserKind } from '@vitascope/grpc'

/** Who calls, as the key says; a key that does not count on a public route makes its holder a guest. */
export type Caller =
  | { kind: 'guest' }
  | {
      kind: 'user'
      keyId: string
      userId: string
      organisationId: string
      userType: UserKind
      resources: ReadonlySet<string>
      /** The key itself, for the routes that show it; never logged. */
      key: string
    }
