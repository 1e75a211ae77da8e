import { requestApi } from './api-request.ts'
import { explainFailure, INVALID_KEY } from './plain-words.ts'
import { RequestRejected } from './problem.ts'
import type { Waiting } from './retry.ts'

/** Credentials of an upload: an API key and an organisation. */
export interface Access {
  key: string
  /** Empty: the organisation of the key. */
  organisationId: string
}

export type AccessCheck =
  | { kind: 'accepted' }
  | { kind: 'rejected'; text: string }
  /** The key belongs to no single organisation. `text` is empty if none was entered yet. */
  | { kind: 'organisation required'; text: string }

/**
 * Checks a key before a file is sent. A key that may not read the upload settings may still upload.
 */
export async function checkAccess(
  { key, organisationId }: Access,
  onWaiting: (waiting: Waiting) => void,
  signal: AbortSignal,
): Promise<AccessCheck> {
  const query = organisationId === '' ? '' : `?organisation_id=${encodeURIComponent(organisationId)}`
  try {
    await requestApi({ method: 'GET', path: `/upload/config${query}`, key, onWaiting, signal })
    return { kind: 'accepted' }
  } catch (error) {
    if (!(error instanceof RequestRejected)) throw error
    return readRejection(error, organisationId)
  }
}

/** Returns the result of the check for a rejected request of the upload settings. */
export function readRejection(error: RequestRejected, organisationId: string): AccessCheck {
  if (error.status === 401) return { kind: 'rejected', text: INVALID_KEY }
  if (error.problem.errors.some(({ field }) => field === 'organisation_id')) {
    return { kind: 'organisation required', text: organisationId === '' ? '' : UNKNOWN_ORGANISATION }
  }
  if (error.status === 404) return { kind: 'organisation required', text: UNKNOWN_ORGANISATION }
  if (error.status !== 403) return { kind: 'rejected', text: explainFailure(error, 'upload') }
  return organisationId === '' ? { kind: 'accepted' } : { kind: 'organisation required', text: FOREIGN_ORGANISATION }
}

const UNKNOWN_ORGANISATION = 'There is no organisation with this number. Ask your administrator for the number.'
const FOREIGN_ORGANISATION = 'This access key may not upload for this organisation. Leave the number empty, or ask your administrator.'
