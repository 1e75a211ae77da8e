import type { Handlers } from '@vitascope/grpc'
import type { SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import type { HashPassword } from '../user/password.ts'
import { toUserMessage } from '../user/user-rpc.ts'
import { type SignInLinkStore, useSignInLink } from './sign-in-link.ts'

export function signInLinkHandlers(links: SignInLinkStore, hashPassword: HashPassword): Handlers<typeof SignInLinkServiceService> {
  return {
    async useSignInLink(request, call) {
      const { session, value, user } = await useSignInLink(links, hashPassword, request, call)
      return { session, value, user: toUserMessage(user) }
    },
  }
}
