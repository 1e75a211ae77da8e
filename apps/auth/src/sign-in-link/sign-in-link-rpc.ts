import type { Handlers } from '@vitascope/grpc'
import { SignInLinkPurpose, type SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import type { HashPassword } from '../user/password.ts'
import { toUserMessage } from '../user/user-rpc.ts'
import { createInvitation, issueSignInLink, requestPasswordReset, type SignInLinkStore, useSignInLink } from './sign-in-link.ts'

const PURPOSES = {
  first_user: SignInLinkPurpose.SIGN_IN_LINK_PURPOSE_UNSPECIFIED,
  invitation: SignInLinkPurpose.SIGN_IN_LINK_PURPOSE_INVITATION,
  password_reset: SignInLinkPurpose.SIGN_IN_LINK_PURPOSE_PASSWORD_RESET,
} as const

export function signInLinkHandlers(links: SignInLinkStore, hashPassword: HashPassword): Handlers<typeof SignInLinkServiceService> {
  return {
    async useSignInLink(request, call) {
      const { session, value, user } = await useSignInLink(links, hashPassword, request, call)
      return { session, value, user: toUserMessage(user) }
    },
    async createInvitation({ userId }, call) {
      return { email: await createInvitation(links, userId, call) }
    },
    async requestPasswordReset({ email }, call) {
      await requestPasswordReset(links, email, call)
      return {}
    },
    async issueSignInLink({ signInLinkId }, call) {
      const { purpose, ...link } = await issueSignInLink(links, signInLinkId, call)
      return { ...link, purpose: PURPOSES[purpose] }
    },
  }
}
