import { randomUUID } from 'node:crypto'
import type { MasterKeys } from '@vitascope/security'
import { derivedKeys } from '../upload/policy-signature.ts'
import { isOwnLink, signLink, type UploadLink } from '../upload/upload-link.ts'
import type { TicketService } from '../upload/upload-ticket.ts'
import type { TusStore } from './tus-store.ts'

export interface Tickets extends TicketService {
  /** Returns true if the link was signed here, whether or not it has expired. */
  isOwnLink(link: UploadLink): boolean
}

/**
 * A ticket is a resumable upload whose row exists before its first request. Its id and expiry are
 * signed.
 */
export function createTickets({ uploads, secrets, maxBytes }: { uploads: TusStore; secrets: MasterKeys; maxBytes: number }): Tickets {
  const keys = () => derivedKeys(secrets, 'upload ticket')
  return {
    maxBytes,
    async create({ organisationId, owner, title, visibility, lifetimeSeconds, ...ticket }, signal) {
      signal.throwIfAborted()
      const uploadId = randomUUID()
      const values = { ...(title !== '' && { title }), visibility }
      const metadata = Object.entries(values).map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
      const upload = { uploadId, organisationId, owner, metadata: metadata.join(','), title, filename: 'video', length: undefined, ticket }
      await uploads.create(upload, lifetimeSeconds)
      return signLink(uploadId, Math.floor(Date.now() / 1_000) + lifetimeSeconds, keys()[0])
    },
    isOwnLink: (link) => isOwnLink(link, keys()),
  }
}
