import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { UserServiceService } from '@vitascope/proto/auth/v1/user'
import type { Logger } from '@vitascope/telemetry'
import { isPlainAddress } from './mail-address.ts'
import type { Mail, MailStore } from './mail-store.ts'
import type { SendMail } from './mail-transport.ts'
import { createSuccessMessage, type Recipient } from './success-message.ts'

/** Returns undefined if the user does not exist. */
export type FindRecipient = (userId: string, signal: AbortSignal) => Promise<Recipient | undefined>

/** All attempts together must take less time than the lease of a mail. */
const MAX_ATTEMPTS = 20
const PAUSE_MS = 3_000

export interface Mailer {
  /** Sends the due mails, one after another. */
  run(signal: AbortSignal): Promise<void>
}

export function createMailer(parts: {
  store: MailStore
  send: SendMail
  findRecipient: FindRecipient
  publicUrl: string
  log: Logger
}): Mailer {
  const { store, send, findRecipient, publicUrl, log } = parts
  const deliver = async (mail: Mail, signal: AbortSignal) => {
    const recipient = mail.title === undefined ? undefined : await findRecipient(mail.userId, signal)
    if (mail.title === undefined || !recipient || !isPlainAddress(recipient.email)) return 'dropped'
    const message = createSuccessMessage({ title: mail.title, name: recipient.name, playerUrl: `${publicUrl}/player/${mail.videoId}` })
    const result = await send({ ...message, to: recipient, messageId: mail.messageId, date: mail.createTime })
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
        if (attempt === MAX_ATTEMPTS) throw error
        await delay(PAUSE_MS)
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
          const hasExpired = await store.postpone(mail)
          log.warn({ err: error, mail_id, attempt, expired: hasExpired }, 'sending a success mail failed')
          continue
        }
        await recordEnd(mail, state)
        if (state !== 'sent') log.info({ mail_id, state }, 'success mail not sent')
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
