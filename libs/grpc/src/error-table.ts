import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { DomainError, type ErrorKind, isDomainError } from '@vitascope/errors'
import { BadRequest, ErrorInfo } from '@vitascope/proto/google/rpc/error_details'
import { Status } from '@vitascope/proto/google/rpc/status'

/** The only mapping between error kinds and gRPC codes. */
const CODE_OF_KIND: Record<ErrorKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  exists: status.ALREADY_EXISTS,
  failed_precondition: status.FAILED_PRECONDITION,
  conflict: status.ABORTED,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
}
const KIND_OF_CODE = new Map(Object.entries(CODE_OF_KIND).map(([kind, code]) => [code, kind as ErrorKind]))

const DETAILS = 'grpc-status-details-bin'
const DOMAIN = 'vitascope'
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest'

export interface CallStatus {
  code: status
  details: string
  metadata: Metadata
}

/**
 * Returns the gRPC status of an error. A domain error keeps its reason and fields; any other error becomes INTERNAL
 * without details.
 */
export function toStatus(error: unknown, aborted: boolean): CallStatus {
  if (isDomainError(error)) return domainErrorStatus(error)
  if (aborted) return { code: status.CANCELLED, details: 'the caller cancelled the call', metadata: new Metadata() }
  return { code: status.INTERNAL, details: 'internal error', metadata: new Metadata() }
}

/**
 * Returns the `DomainError` that a service responded with, or an `Error` for a fault of the platform. Not for calls
 * that this side cancelled.
 */
export function fromServiceError(error: ServiceError, method: string): Error {
  if (error.code === status.DEADLINE_EXCEEDED) {
    return new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'a service did not respond in time; try again', {
      retryAfter: 1,
      cause: error,
    })
  }
  const kind = KIND_OF_CODE.get(error.code)
  const details = readDetails(error.metadata)
  if (kind && details) return new DomainError(kind, details.reason, error.details, { ...details, cause: error })
  if (error.code === status.UNAVAILABLE || error.code === status.RESOURCE_EXHAUSTED || isConnectionLost(error)) {
    return new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'a service is unreachable; try again', {
      retryAfter: 1,
      cause: error,
    })
  }
  return new Error(`${method} failed: ${status[error.code]} ${error.details}`, { cause: error })
}

/** Returns whether a service does not have the called method, because it is of an older release. */
export function isUnimplemented(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && (cause as Partial<ServiceError>).code === status.UNIMPLEMENTED
}

/**
 * Returns whether the connection ended the call, not the service. HTTP/2 servers close a connection after too many
 * cancelled calls, and with it all other calls on it. A stopping server cancels calls that exceed its grace period.
 */
export function isConnectionLost(error: ServiceError): boolean {
  return error.code === status.CANCELLED || (error.code === status.INTERNAL && error.details.startsWith('Received RST_STREAM'))
}

/**
 * Returns whether the call was not sent to any server: there was no connection, or a server that was closing the
 * connection refused the stream (HTTP/2 REFUSED_STREAM). grpc-js reports both in the message text only.
 */
export function wasNotSent(error: ServiceError): boolean {
  return error.code === status.UNAVAILABLE && /^Stream refused by server|No connection established/.test(error.details)
}

function domainErrorStatus(error: DomainError): CallStatus {
  const code = CODE_OF_KIND[error.kind]
  const info = ErrorInfo.fromPartial({
    reason: error.reason,
    domain: DOMAIN,
    metadata: error.retryAfter === undefined ? {} : { retry_after: String(error.retryAfter) },
  })
  const fields = BadRequest.fromPartial({ fieldViolations: error.fields.map(({ field, message }) => ({ field, description: message })) })
  const packed = Status.fromPartial({
    code,
    message: error.message,
    details: [
      { typeUrl: ERROR_INFO, value: Buffer.from(ErrorInfo.encode(info).finish()) },
      ...(error.fields.length > 0 ? [{ typeUrl: BAD_REQUEST, value: Buffer.from(BadRequest.encode(fields).finish()) }] : []),
    ],
  })
  const metadata = new Metadata()
  metadata.set(DETAILS, Buffer.from(Status.encode(packed).finish()))
  return { code, details: error.message, metadata }
}

function readDetails(metadata: Metadata | undefined) {
  const packed = metadata?.get(DETAILS)[0]
  if (!Buffer.isBuffer(packed)) return undefined
  const details = Status.decode(packed).details
  const infoBytes = details.find((any) => any.typeUrl === ERROR_INFO)?.value
  if (!infoBytes) return undefined
  const info = ErrorInfo.decode(infoBytes)
  const fieldBytes = details.find((any) => any.typeUrl === BAD_REQUEST)?.value
  const fields = fieldBytes ? BadRequest.decode(fieldBytes).fieldViolations.map((f) => ({ field: f.field, message: f.description })) : []
  const retryAfter = info.metadata['retry_after']
  return { reason: info.reason, fields, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) }
}
