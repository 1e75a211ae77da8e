import { S3ServiceException } from '@aws-sdk/client-s3'
import { isDomainError } from '@vitascope/errors'

const FAILURE_REASONS: ReadonlySet<string> = new Set([
  'OBJECT_EXISTS',
  'OBJECT_NOT_FOUND',
  'STORAGE_BUSY',
  'STORAGE_CREDENTIALS_UNAVAILABLE',
  'STORAGE_FULL',
  'STORAGE_UNAVAILABLE',
])

/**
 * Returns whether an operation on objects or files failed because of the state of the store or the
 * disk: it is unavailable, busy or full, rejected the request, or lacks or already has the object.
 * It returns false for a call with invalid arguments and for an error of another service.
 */
export function isStorageFailure(error: unknown): boolean {
  if (isDomainError(error)) return FAILURE_REASONS.has(error.reason)
  if (typeof error !== 'object' || error === null) return false
  return error instanceof S3ServiceException || isNetworkError(error) || isFileError(error)
}

/** Returns whether the connection to the store failed or timed out. */
export function isNetworkError(error: object): boolean {
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE)$/.test(code) ||
    ('name' in error && error.name === 'TimeoutError')
  )
}

/**
 * Failed system calls have `errno` and `syscall`. A failed start of a program has both, too, but is
 * not a file error.
 */
function isFileError(error: object): boolean {
  return 'errno' in error && 'syscall' in error && !String(error.syscall).startsWith('spawn')
}
