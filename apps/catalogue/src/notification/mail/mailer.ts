import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { SignInLinkPurpose, type SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import type { UserServiceService } from '@vitascope/proto/auth/v1/user'
import type { Logger } from '@vitascope/telemetry'
import { isPlainAddress } from './mail-address.ts'
import type { Mail, MailStore } from './mail-store.ts'
import type { SendMail } from './mail-transport.ts'
import type { Message, Recipient } from './message.ts'
import { createSignInMessage, type SignInLink } from './sign-in-message.ts'
import { createSuccessMessage } from './success-message.ts'

/** Returns undefined if the user does not exist. */
export type FindRecipient = (userId: string, signal: AbortSignal) => Promise<Recipient | undefined>

/** Creates the secret of a link. Returns undefined if the link was used, or has expired. */
export type IssueSignInLink = (signInLinkId: string, signal: AbortSignal) => Promise<(SignInLink & { email: string }) | undefined>

/** Attempts to store the result of a mail. All of them must end within the lease of the mail, which is two minutes. */
const MAX_STORE_ATTEMPTS = 20
const STORE_RETRY_DELAY_MS = 3_000

export interface Mailer {
  /** Sends the due mails, one after another. */
  run(signal: AbortSignal): Promise<void>
}

export function createMailer(parts: {
  store: MailStore
  send: SendMail
  findRecipient: FindRecipient
  issueSignInLink: IssueSignInLink
  publicUrl: string
  log: Logger
}): Mailer {
  const { store, send, findRecipient, issueSignInLink, publicUrl, log } = parts
  /** Returns undefined if the mail is not needed any more. */
  const compose = async ({ subject, userId }: Mail, signal: AbortSignal): Promise<{ to: Recipient; message: Message } | undefined> => {
    if (subject.kind === 'sign-in-link') {
      const link = await issueSignInLink(subject.signInLinkId, signal)
      return link && { to: link, message: createSignInMessage(link, publicUrl) }
    }
    const { title, videoId } = subject
    const to = title === undefined ? undefined : await findRecipient(userId, signal)
    if (title === undefined || !to) return undefined
    return { to, message: createSuccessMessage({ title, name: to.name, playerUrl: `${publicUrl}/player/${videoId}` }) }
  }
  const deliver = async (mail: Mail, signal: AbortSignal) => {
    const composed = await compose(mail, signal)
    if (!composed || !isPlainAddress(composed.to.email)) return 'dropped'
    const { email, name } = composed.to
    // Each attempt to send a link has a new secret. With the same Message-ID, mail programs would hide the mail with the
    // valid one if an earlier attempt had arrived.
    const messageId = mail.subject.kind === 'sign-in-link' ? randomUUID() : mail.messageId
    const result = await send({ ...composed.message, to: { email, name }, messageId, date: mail.createTime })
    return result === 'rejected' ? 'failed' : 'sent'
  }
  /**
   * Stores the result, with retries. A sent mail without a stored result would be sent again after its
   * lease expires.
   */
  const recordEnd = async (mail: Mail, state: Parameters<MailStore['end']>[1]) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await store.end(mail, state)
      } catch (error) {
        if (attempt === MAX_STORE_ATTEMPTS) throw error
        await delay(STORE_RETRY_DELAY_MS)
      }
    }
  }
  return {
    async run(signal) {
      while (!signal.aborted) {
        const mail = await store.lease(signal)
        if (!mail) return
        const { mailId: mail_id, attempt } = mail
        let state: Awaited<ReturnType<typeof deliver>>
        try {
          state = await deliver(mail, signal)
        } catch (error) {
          const hasExpired = await store.postpone(mail).catch((cause: unknown) => {
            throw new AggregateError([error, cause], `sending mail ${mail_id} failed, and storing that failed too`)
          })
          log.warn({ err: error, mail_id, attempt, expired: hasExpired }, 'sending a mail failed')
          continue
        }
        await recordEnd(mail, state)
        if (state !== 'sent') log.info({ mail_id, state }, 'mail not sent')
      }
    },
  }
}

export function createFindRecipient(users: Client<typeof UserServiceService>): FindRecipient {
  return async (userId, signal) => {
    try {
      const { user } = await users.getUser({ userId }, serviceCall('catalogue', '', signal))
      return user && { email: user.email, name: `${user.firstName} ${user.lastName}`.trim() }
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}

export function createIssueSignInLink(links: Client<typeof SignInLinkServiceService>): IssueSignInLink {
  return async (signInLinkId, signal) => {
    try {
      const { secret, purpose, email, name, expireTime } = await links.issueSignInLink(
        { signInLinkId },
        serviceCall('catalogue', '', signal),
      )
      if (!expireTime) throw new Error('auth issued a link without an expiry')
      const isInvitation = purpose === SignInLinkPurpose.SIGN_IN_LINK_PURPOSE_INVITATION
      return { secret, purpose: isInvitation ? 'invitation' : 'password_reset', email, name, expireTime }
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}
