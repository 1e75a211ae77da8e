import { requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import type { MailServiceService } from '@vitascope/proto/catalogue/v1/mail'
import { isId, isUuid } from '@vitascope/request'
import type { MailStore } from './mail-store.ts'

export function mailHandlers(mails: Pick<MailStore, 'queueSignInLink'>): Handlers<typeof MailServiceService> {
  return {
    async queueSignInLink({ signInLinkId, organisationId, userId }, { principal, signal }) {
      requireService(principal)
      requireValid([
        ...(isUuid(signInLinkId) ? [] : [{ field: 'sign_in_link_id', message: 'must be a UUID' }]),
        ...(isId(organisationId) ? [] : [{ field: 'organisation_id', message: 'must be an id' }]),
        ...(isId(userId) ? [] : [{ field: 'user_id', message: 'must be an id' }]),
      ])
      await mails.queueSignInLink({ signInLinkId, organisationId, userId }, signal)
      return {}
    },
  }
}
