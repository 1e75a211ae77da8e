import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DomainError, isDomainError } from '@vitascope/errors'
import type { Idempotency, Principal } from '@vitascope/grpc'
import { type TransferLimiter, uploadProgress } from '@vitascope/process'
import { toWidestNetwork } from '@vitascope/security'
import type { Logger } from '@vitascope/telemetry'
import { disableBodyTimeout } from '../http/http-server.ts'
import { discardBody } from '../payload/body.ts'
import { type FileForm, type FormFile, readFileForm } from '../payload/file-form.ts'
import type { FileSender } from '../proxy/file-sender.ts'
import { cutError, IDLE_TIMEOUT_MS } from '../proxy/upload-proxy.ts'
import type { Context, FormBody, StoredFile } from '../route/route.ts'
import type { Input } from './input.ts'

/** Time limit for the rest of a rejected form. */
export const DISCARD_TIMEOUT_MS = 5_000
const MAX_NAME_LENGTH = 255

export function isMultipartForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(headers['content-type'] ?? '')
}

/**
 * Reads a form up to its file, and calls `handle` with it. The form counts as an upload of the client, with the limits
 * of other uploads, until `handle` has ended. If `handle` fails, the rest of the form is discarded.
 */
export async function withFileForm<Result>(
  {
    request,
    response,
    address,
    uploads,
  }: { request: IncomingMessage; response: ServerResponse; address: string; uploads: TransferLimiter },
  handle: (form: FileForm) => Promise<Result>,
): Promise<Result> {
  disableBodyTimeout(request)
  request.socket.setTimeout(IDLE_TIMEOUT_MS)
  const reading = readFileForm(request)
  let end = () => {}
  try {
    const cut: Parameters<TransferLimiter['begin']>[0]['cut'] = (reason) => reading.abort(cutError(reason))
    end = uploads.begin({ client: toWidestNetwork(address), ...uploadProgress(request), cut })
    return await handle(await reading.form)
  } catch (error) {
    reading.abort(new DOMException('the form was rejected', 'AbortError'))
    if (!request.complete && !response.headersSent) response.setHeader('Connection', 'close')
    await discardBody(request, DISCARD_TIMEOUT_MS)
    throw error
  } finally {
    end()
  }
}

/**
 * Stores the file of a form at encoding and runs the handler of its route. If the handler rejects the file or does not
 * need it, encoding removes the file.
 */
export async function handleFormFile(
  { body, input, file, declaredBytes }: { body: FormBody; input: Input; file: FormFile; declaredBytes: number | undefined },
  {
    sendFile,
    principal,
    requestId,
    address,
    disconnected,
    newContext,
    readIdempotency,
    log,
  }: {
    sendFile: FileSender
    principal: Principal
    requestId: string
    address: string
    disconnected: AbortSignal
    /** Returns a context for calls from now on. Without a signal they continue when the client disconnects. */
    newContext: (signal?: AbortSignal) => Context
    readIdempotency: (payload: Input['payload']) => Idempotency | undefined
    log: Logger
  },
) {
  const { params } = input
  // The payload of a form is never a list.
  const payload = input.payload as Record<string, unknown>
  // Rejects a malformed header before the file is read.
  readIdempotency(payload)
  const organisationId = await body.findOrganisation({ params, payload }, newContext(disconnected))
  const bytes = declaredBytes === undefined ? '' : `&bytes=${declaredBytes}`
  const path = `/file?organisation_id=${organisationId}${bytes}`
  const headers = await sendFile(file.content, { path, principal, requestId, address })
  const stored: StoredFile = {
    uploadId: String(headers['vitascope-upload-id']),
    organisationId,
    name: cleanName(file.name),
  }
  const discard = async () => {
    const { services, call } = newContext()
    try {
      await services.uploads.discardUpload({ uploadId: stored.uploadId, organisationId }, call)
    } catch (error) {
      // An unused upload expires after a day.
      log.warn({ err: error, upload_id: stored.uploadId }, 'removing an unused upload failed')
    }
  }
  if (disconnected.aborted) {
    await discard()
    throw disconnected.reason
  }
  const context = newContext(disconnected)
  const fingerprinted = { ...payload, file: { name: stored.name, sha256: headers['vitascope-upload-sha256'] } }
  context.call.idempotency = readIdempotency(fingerprinted)
  try {
    const { isFileUsed, result } = await body.handle({ params, payload, file: stored }, context)
    if (!isFileUsed) await discard()
    return result
  } catch (error) {
    if (isDomainError(error) && isDefinite(error)) await discard()
    throw error
  }
}

/** Returns false if the call may have been executed all the same. */
function isDefinite({ kind }: DomainError): boolean {
  return kind !== 'unavailable'
}

function cleanName(name: string): string {
  const text = [...name.replaceAll(/\p{Cc}|\ufffd/gu, '')].slice(0, MAX_NAME_LENGTH).join('').trim()
  return text.toWellFormed() || 'video'
}
