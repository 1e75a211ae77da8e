import type { Principal } from '@vitascope/grpc'
import type { UploadLink } from './upload-link.ts'

export const TICKET_KINDS = ['video', 'audio'] as const
export type TicketKind = (typeof TICKET_KINDS)[number]

/** The limits of an upload that is sent without a key. */
export interface Ticket {
  maxBytes: number
  kinds: TicketKind[]
}

export interface NewTicket {
  organisationId: string
  /** The user for whom the video is created. */
  owner: Extract<Principal, { kind: 'user' }>
  maxBytes: number
  kinds: TicketKind[]
  lifetimeSeconds: number
  title: string
  visibility: string
}

export interface TicketService {
  /** Maximum size of a file in bytes. */
  maxBytes: number
  /** Creates a ticket. Returns its signed link. */
  create(ticket: NewTicket, signal: AbortSignal): Promise<UploadLink>
}
