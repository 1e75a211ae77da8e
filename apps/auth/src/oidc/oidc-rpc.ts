import type { Handlers } from '@vitascope/grpc'
import type { OidcServiceService } from '@vitascope/proto/auth/v1/oidc'
import { toUserMessage } from '../user/user-rpc.ts'
import { beginOidcSignIn, completeOidcSignIn, type OidcParts } from './oidc.ts'

/** `oidc` is undefined if no provider is configured. */
export function oidcHandlers(oidc: OidcParts | undefined): Handlers<typeof OidcServiceService> {
  return {
    getOidcProvider: async () => ({ configured: oidc !== undefined }),
    beginOidcSignIn: ({ redirectUri }, call) => beginOidcSignIn(oidc, redirectUri, call),
    async completeOidcSignIn(request, call) {
      const { session, value, user } = await completeOidcSignIn(oidc, request, call)
      return { session, value, user: toUserMessage(user) }
    },
  }
}
