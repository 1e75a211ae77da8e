import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@vitascope/telemetry'
import { createTransport } from 'nodemailer'
import type { Recipient, SuccessMessage } from './success-message.ts'

/** Where messages go: a server, or, without one, files. */
export interface MailSettings {
  /** `smtp:` or `smtps:`, with user and password where it wants them. */
  smtpUrl: string | undefined
  /** Takes what there is no server for. */
  folder: string | undefined
  from: Recipient
}

export interface Letter extends SuccessMessage {
  to: Recipient
  /** Of the header; a UUID, which is a file's name as well. */
  messageId: string
  date: Date
}

/** Sends one letter; answers `refused` where the server will never take it for this address, and throws for anything else. */
export type SendMail = (letter: Letter) => Promise<'sent' | 'refused'>

const CONNECT_MS = 10_000
const SOCKET_MS = 20_000
/** For all of it; the lease of a letter is longer. */
const WHOLE_MS = 60_000

/** Undefined where there is neither a server nor a folder. */
export function mailTransport({ smtpUrl, folder, from }: MailSettings, log: Logger): SendMail | undefined {
  if (smtpUrl !== undefined) return bySmtp(smtpUrl, from, log)
  if (folder !== undefined) return toFolder(folder, from, log)
  return undefined
}

/** What a server says of an address that it will never deliver to (RFC 5321, 4.2.3); all else may be a setting, and be mended. */
const NO_SUCH_ADDRESS = [550, 551, 553]

function bySmtp(url: string, from: Recipient, log: Logger): SendMail {
  const times = { connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, dnsTimeout: CONNECT_MS, socketTimeout: SOCKET_MS }
  const transport = createTransport({ url, ...times })
  return async (letter) => {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('the mail server took too long')), WHOLE_MS)
    try {
      await Promise.race([transport.sendMail(toMessage(letter, from)), late.promise])
      return 'sent'
    } catch (error) {
      // What concerns the address and is final; a login that fails, for one, may be mended.
      const { command, response, responseCode = 0 } = error as { command?: string; response?: string; responseCode?: number }
      if (command === 'RCPT TO' && NO_SUCH_ADDRESS.includes(responseCode)) {
        log.warn({ response, message_id: letter.messageId }, 'the mail server takes nothing for this address')
        return 'refused'
      }
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

function toFolder(folder: string, from: Recipient, log: Logger): SendMail {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return async (letter) => {
    const { message } = await transport.sendMail(toMessage(letter, from))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, `${letter.messageId}.eml`)
    await writeFile(`${file}.part`, message, { mode: 0o600 })
    await rename(`${file}.part`, file)
    log.info({ file }, 'a message was written to a file: VITASCOPE_SMTP_URL names no mail server')
    return 'sent'
  }
}

function toMessage({ to, subject, text, html, messageId, date }: Letter, from: Recipient) {
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
    // Nothing of a letter is read from a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
