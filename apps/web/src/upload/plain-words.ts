import { FileUnreadable, RequestRejected } from './problem.ts'

/** Purpose of a rejected request. */
export type Purpose = 'upload' | 'details' | 'captions' | 'picture'

/** Returns a sentence for people without a technical background: what is wrong and what to do. */
export function explainFailure(error: unknown, purpose: Purpose): string {
  if (error instanceof FileUnreadable) return 'This file can no longer be read. It may have been moved or changed. Choose it again.'
  if (!(error instanceof RequestRejected)) return 'Something went wrong on this page. Try again.'
  return (
    (purpose === 'picture' ? PICTURE_SENTENCES[error.problem.code] : undefined) ??
    SENTENCES[error.problem.code] ??
    (error.status === 401 ? INVALID_KEY : undefined) ??
    (error.status === 403 ? FORBIDDEN[purpose] : undefined) ??
    (purpose === 'captions' && hasField(error, 'content') ? UNREADABLE_CAPTIONS : undefined) ??
    (purpose === 'picture' && hasField(error, 'image') ? UNREADABLE_PICTURE : undefined) ??
    (error.status === 404 && purpose !== 'upload' ? 'The video does not exist any more.' : undefined) ??
    quoteServer(error)
  )
}

export const INVALID_KEY = 'This access key is not valid. Check it, or ask your administrator for a new one.'

const FORBIDDEN: Record<Purpose, string> = {
  upload: 'This access key may not upload. Ask your administrator for one that may.',
  details: 'This access key may not change videos. Ask your administrator for one that may.',
  captions: 'This access key may not add captions. Ask your administrator for one that may.',
  picture: 'This access key may not set pictures. Ask your administrator for one that may.',
}

/** Sentences by the code of the problem document. */
const SENTENCES: Readonly<Record<string, string>> = {
  quota_bytes: 'Your organisation has no space left for this file. Ask your administrator for more.',
  quota_minutes: 'Your organisation has used up its minutes of video for this month. Ask your administrator for more.',
  organisation_inactive: 'Your organisation is switched off at the moment. Ask your administrator.',
  upload_too_large: 'This file is larger than the server accepts.',
  caption_too_large: 'This file is too long for captions. It may have 5 MB and 20,000 lines.',
  payload_too_large: 'This file is too large. A caption file may have 1 MB.',
  captions_full: 'This video has 100 captions already. Remove one first.',
}

const PICTURE_SENTENCES: Readonly<Record<string, string>> = {
  payload_too_large: 'This picture is too large. It may have 10 MB.',
}

const UNREADABLE_PICTURE = 'This picture cannot be read. Save it again as JPEG or PNG, and choose the new file.'

/** Returns a sentence about a picture that the server accepted but could not use. */
export function explainFailedPicture(reason: string): string {
  return reason === '' ? 'The server could not use this picture. Try again.' : `The server could not use this picture: ${reason}.`
}

const UNREADABLE_CAPTIONS = 'No captions were found in this file. Save it again as .vtt or .srt, and choose the new file.'

/** Returns whether the user can change something so that the same request succeeds. */
export function canRetry(error: unknown): boolean {
  return error instanceof RequestRejected && [401, 403, 409, 413].includes(error.status)
}

function hasField({ problem }: RequestRejected, name: string): boolean {
  return problem.errors.some(({ field }) => field === name)
}

function quoteServer({ status, problem }: RequestRejected): string {
  const messages = problem.errors.map(({ field, message }) => `${field} ${message}`)
  // The detail of a single field error is the same sentence.
  const reason = messages.length > 0 ? messages.join('; ') : problem.detail
  return `The server did not accept this: ${reason || `status ${status}`}${reason.endsWith('.') ? '' : '.'}`
}
