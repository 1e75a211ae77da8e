import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { UserServiceService } from '@vitascope/proto/auth/v1/user'
import type { Logger } from '@vitascope/telemetry'
import { isPlainAddress } from './mail-address.ts'
import type { Mail, MailStore } from './mail-store.ts'
import type { SendMail } from './mail-transport.ts'
import { type Recipient, successMessage } from './success-message.ts'

/** Undefined when there is no such user. */
export type FindRecipient = (userId: string, signal: AbortSignal) => Promise<Recipient | undefined>

/** Within the lease of a message. */
const MOST_TRIES = 20
const PAUSE_MS = 3_000

export interface Mailer {
  /** Sends what is due, one after another. */
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
    const to = mail.title === undefined ? undefined : await findRecipient(mail.userId, signal)
    if (mail.title === undefined || !to || !isPlainAddress(to.email)) return 'dropped'
    const message = successMessage({ title: mail.title, name: to.name, playerUrl: `${publicUrl}/player/${mail.videoId}` })
    const sent = await send({ ...message, to, messageId: mail.messageId, date: mail.createTime })
    return sent === 'refused' ? 'failed' : 'sent'
  }
  /** What the server has taken is noted whatever else happens, or it would be sent again when the lease is over. */
  const end = async (mail: Mail, state: Parameters<MailStore['end']>[1]) => {
    for (let tries = 1; ; tries++) {
      try {
        return await store.end(mail, state)
      } catch (error) {
        if (tries === MOST_TRIES) throw error
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
          const isLate = await store.postpone(mail)
          log.warn({ err: error, mail_id, attempt, given_up: isLate }, 'a message of success could not be sent')
          continue
        }
        await end(mail, state)
        if (state !== 'sent') log.info({ mail_id, state }, 'a message of success was not sent')
      }
    },
  }
}

export function recipientsOf(users: Client<typeof UserServiceService>): FindRecipient {
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
