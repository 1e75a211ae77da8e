import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@vitascope/telemetry'
import { createTransport } from 'nodemailer'
import type { Message, Recipient } from './message.ts'

/** Destination of mails: an SMTP server, or files if there is none. */
export interface MailSettings {
  /** `smtp:` or `smtps:` URL, with user and password if the server requires them. */
  smtpUrl: string | undefined
  /** Directory for mails if there is no server. */
  folder: string | undefined
  from: Recipient
}

export interface OutgoingMail extends Message {
  to: Recipient
  /** A UUID for the Message-ID header, also used as the file name. */
  messageId: string
  date: Date
}

/** Sends one mail. Returns `rejected` if the server rejects the address permanently. Throws on other failures. */
export type SendMail = (mail: OutgoingMail) => Promise<'sent' | 'rejected'>

const CONNECT_MS = 10_000
const SOCKET_MS = 20_000
/** Timeout of the transmission. It must be shorter than the lease of a mail. */
const SEND_TIMEOUT_MS = 60_000

/** Returns undefined if neither a server nor a folder is configured. */
export function createMailTransport({ smtpUrl, folder, from }: MailSettings, log: Logger): SendMail | undefined {
  if (smtpUrl !== undefined) return sendBySmtp(smtpUrl, from, log)
  if (folder !== undefined) return writeToFolder(folder, from, log)
  return undefined
}

/**
 * Permanent rejections of an address (RFC 5321, section 4.2.3). Other codes may be caused by
 * configuration and are retried.
 */
const PERMANENT_REJECTION_CODES = [550, 551, 553]

function sendBySmtp(url: string, from: Recipient, log: Logger): SendMail {
  const timeouts = { connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, dnsTimeout: CONNECT_MS, socketTimeout: SOCKET_MS }
  const transport = createTransport({ url, ...timeouts })
  return async (mail) => {
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeout.reject(new Error('the mail server did not respond in time')), SEND_TIMEOUT_MS)
    try {
      await Promise.race([transport.sendMail(toMessage(mail, from)), timeout.promise])
      return 'sent'
    } catch (error) {
      // Only permanent rejections of the recipient are final. A failed login, for example, is
      // retried.
      const { command, response, responseCode = 0 } = error as { command?: string; response?: string; responseCode?: number }
      if (command === 'RCPT TO' && PERMANENT_REJECTION_CODES.includes(responseCode)) {
        log.warn({ response, message_id: mail.messageId }, 'mail server rejected the recipient')
        return 'rejected'
      }
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

function writeToFolder(folder: string, from: Recipient, log: Logger): SendMail {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return async (mail) => {
    const { message } = await transport.sendMail(toMessage(mail, from))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, `${mail.messageId}.eml`)
    await writeFile(`${file}.part`, message, { mode: 0o600 })
    await rename(`${file}.part`, file)
    log.info({ file }, 'mail written to a file because VITASCOPE_SMTP_URL is not set')
    return 'sent'
  }
}

function toMessage({ to, subject, text, html, messageId, date }: OutgoingMail, from: Recipient) {
  const host = from.email.slice(from.email.lastIndexOf('@') + 1)
  return {
    from: { name: from.name, address: from.email },
    to: { name: to.name, address: to.email },
    envelope: { from: from.email, to: [to.email] },
    messageId: `<${messageId}@${host}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    subject,
    text,
    html,
    date,
    // The contents of a mail must not come from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
