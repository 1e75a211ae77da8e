import { DomainError, invalid, notFound } from '@vitascope/errors'
import { isUuid } from '@vitascope/request'
import type { UploadCall, UploadHandler } from '../upload/upload-listener.ts'
import type { Ticket, TicketKind } from '../upload/upload-ticket.ts'
import { readChecksum } from './receive-parts.ts'
import type { Tickets } from './ticket-service.ts'
import {
  append,
  finishComplete,
  PARTS_TYPE,
  readLength,
  receiveBody,
  requireVersion,
  sendHeaders,
  sendOffset,
  statusHeaders,
  type TusTools,
  toReservation,
  waitForLease,
} from './tus-http.ts'
import { readMetadata } from './tus-metadata.ts'
import type { TusUpload } from './tus-store.ts'

type TicketTools = TusTools & { tickets: Tickets }
type TicketUpload = TusUpload & { ticket: Ticket }

const MAX_TYPE_LENGTH = 100

/**
 * Returns the handler of `/ticket/ID?expires=…&signature=…`, for callers without a key. `PUT` sends
 * the complete file. `POST`, `HEAD` and `PATCH` are a tus upload whose URL is that of the ticket.
 * `PUT` and `POST` start the upload from the beginning. They are accepted until the upload is
 * complete or the ticket has expired.
 */
export function ticketHandler(tools: TicketTools): UploadHandler {
  return async (call) => {
    const uploadId = /^\/ticket\/([^/]{1,64})$/.exec(call.path)?.[1]
    const { method } = call.request
    if (uploadId === undefined || !['PUT', 'POST', 'HEAD', 'PATCH'].includes(method ?? '')) return false
    const expires = Number(call.query.get('expires'))
    const link = { uploadId, expires, signature: call.query.get('signature') ?? '' }
    if (!isUuid(uploadId) || !tools.tickets.isOwnLink(link)) throw notFound('upload', uploadId)
    const upload = await tools.uploads.find(uploadId, call.signal)
    if (method === 'PUT' || method === 'POST') {
      if (expires * 1_000 <= Date.now()) throw ticketExpired()
      const { ticket } = upload ?? {}
      // The row of a used ticket is removed before the ticket expires if its video was encoded long
      // ago.
      if (!upload || !ticket) throw ticketUsed()
      if (method === 'PUT') await putFile(tools, call, { ...upload, ticket })
      else await startTusUpload(tools, call, { ...upload, ticket })
      return true
    }
    requireVersion(call.request)
    if (!upload) throw expires * 1_000 <= Date.now() ? ticketExpired() : notFound('upload', uploadId)
    if (method === 'HEAD') await sendOffset(tools, call, upload)
    else await append(tools, call, upload)
    return true
  }
}

/** Receives the complete file. A request that ends early can be repeated, or continued by tus. */
async function putFile(tools: TicketTools, call: UploadCall, found: TicketUpload): Promise<void> {
  const { request, response, signal } = call
  requireKind(request.headers['content-type'], found.ticket, 'Content-Type')
  const declared = request.headers['content-length']
  const length = declared === undefined ? undefined : Number(declared)
  requireSize(length, found.ticket)
  const complete = await withRestartedUpload(
    tools,
    found,
    { length, title: found.title, filename: found.filename },
    signal,
    async (upload) => {
      const received = await receiveBody(tools, call, upload, undefined)
      if (received.received === 0) throw emptyFile()
      if (length === undefined) await tools.uploads.setLength(upload.uploadId, upload.fence, received.received)
      return { ...received, length: received.received }
    },
  )
  sendHeaders(response, 201, { ...statusHeaders(complete), ...(await finishComplete(tools, complete, signal)) })
}

/** Starts a tus upload: creation, also with the first bytes. */
async function startTusUpload(tools: TicketTools, call: UploadCall, found: TicketUpload): Promise<void> {
  const { request, response, publicUrl, path, query, signal } = call
  requireVersion(request)
  const metadata = readMetadata(String(request.headers['upload-metadata'] ?? ''))
  const length = readLength(request, Number.MAX_SAFE_INTEGER)
  if (length === undefined) throw invalid([{ field: 'Upload-Length', message: 'is required' }])
  requireSize(length, found.ticket)
  requireKind(metadata.filetype, found.ticket, 'filetype')
  const hasBytes = request.headers['content-type'] === PARTS_TYPE
  const checksum = readChecksum(request.headers['upload-checksum'])
  const title = found.title || metadata.filename
  const updated = await withRestartedUpload(tools, found, { length, title, filename: metadata.filename }, signal, async (upload) =>
    hasBytes ? receiveBody(tools, call, upload, checksum) : upload,
  )
  const headers = { Location: `${publicUrl}/v2/upload${path}?${query}`, ...statusHeaders(updated) }
  sendHeaders(response, 201, { ...headers, ...(await finishComplete(tools, updated, signal)) })
}

/**
 * Removes all parts of an upload and reserves its new length. Then runs `work` under the lease of
 * the upload. Throws TICKET_USED if the upload is complete or was rejected.
 */
async function withRestartedUpload(
  tools: TicketTools,
  { uploadId }: TicketUpload,
  start: { length: number | undefined; title: string; filename: string },
  signal: AbortSignal,
  work: (upload: TusUpload) => Promise<TusUpload>,
): Promise<TusUpload> {
  const leased = await waitForLease(tools, uploadId, signal)
  try {
    if (leased.error !== undefined || leased.received === leased.length) throw ticketUsed()
    await tools.quota.reserve(toReservation(tools, leased, start.length ?? 0), signal)
    const objects = await tools.uploads.restart(uploadId, leased.fence, start)
    if (!objects) throw ticketUsed()
    // While a backup copies objects, they are kept and are deleted together with the upload.
    if (!(await tools.uploads.isSweepPaused())) for (const object of objects) await tools.storage.delete(object)
    return await work({ ...leased, ...start, received: 0, parts: 0 })
  } finally {
    await tools.uploads.release(uploadId, leased.fence)
  }
}

function requireSize(length: number | undefined, { maxBytes }: Ticket): void {
  if (length === 0) throw emptyFile()
  if (length === undefined || length <= maxBytes) return
  throw new DomainError('invalid', 'UPLOAD_TOO_LARGE', `the ticket allows at most ${maxBytes} bytes`)
}

/**
 * Throws if a declared content type is of another kind. Encoding checks the bytes of every source.
 */
function requireKind(type: string | undefined, { kinds }: Ticket, field: string): void {
  const declared = type?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (declared === '' || declared === 'application/octet-stream') return
  const kind = declared === 'application/mp4' ? 'video' : declared.split('/')[0]
  if (kinds.includes(kind as TicketKind)) return
  const allowed = kinds.map((name) => `${name}/*`).join(' or ')
  const message = `must be ${allowed}, not ${declared.slice(0, MAX_TYPE_LENGTH)}`
  throw new DomainError('invalid', 'UNSUPPORTED_MEDIA_TYPE', `${field} ${message}`, { fields: [{ field, message }] })
}

function emptyFile(): DomainError {
  return invalid([{ field: 'file', message: 'must not be empty' }])
}

function ticketExpired(): DomainError {
  return new DomainError('failed_precondition', 'TICKET_EXPIRED', 'the ticket has expired; request a new one')
}

function ticketUsed(): DomainError {
  return new DomainError('failed_precondition', 'TICKET_USED', 'the file of this ticket was uploaded already; request a new ticket')
}
