import type { VideoRecord } from './video-record.ts'

/** Result of a request for the video. */
export type VideoResult = { record: VideoRecord } | { status: number; code: string; detail: string } | { unreachable: true }

interface Message {
  kind: 'message'
  heading: string
  detail: string
  canRetry: boolean
}

/** State of the page; `canRetry`: the page requests the video again after a delay. */
export type PageState =
  | { kind: 'playable'; record: VideoRecord; encoding: boolean }
  | { kind: 'encoding'; record: VideoRecord; text: string }
  | Message

export function pageState(result: VideoResult, hasToken: boolean): PageState {
  if ('unreachable' in result) return message('No connection', 'The server cannot be reached. Trying again …', true)
  if ('status' in result) return rejectionState(result)

  const { record } = result
  if (record.tokenRequired && !hasToken) return needsPersonalLink
  const encoding = record.state === 'encoding' || record.state === 'waiting for encoding'
  if (record.hls !== '' || record.mp4 !== '') return { kind: 'playable', record, encoding }
  if (encoding) return { kind: 'encoding', record, text: encodingText(record) }
  return message('This video cannot be shown', failureText(record.code), false)
}

/**
 * Returns the message for a viewer whose media files are rejected. `code` is the code of the
 * problem document of the delivery service.
 */
export function rejectedMedia(code: string): Message {
  if (code === 'address_refused') return foreignNetwork
  return needsPersonalLink
}

const foreignNetwork: Message = message('This video is not available here', 'Its owner allows it on certain networks only.', false)

/** Message for a viewer without a valid token. */
export const needsPersonalLink: Message = message(
  'This video is protected',
  'It requires a personal link. Ask its sender for a valid one.',
  false,
)

function rejectionState({ status, code, detail }: { status: number; code: string; detail: string }): PageState {
  if (status === 429 || status >= 500) return message('One moment', 'The server is busy. Trying again …', true)
  if (status === 401 || status === 403) return needsPersonalLink
  if (code === 'video_expired') return message(expired, isSameText(detail, expired) ? '' : detail, false)
  return message('This video is not available', 'It may have been removed, or its address is wrong.', false)
}

const expired = 'This video is no longer available'

/**
 * If the owner wrote no message, the response has the default text of the server, which repeats the
 * heading.
 */
function isSameText(detail: string, heading: string): boolean {
  return detail.toLowerCase().replace(/\.$/, '') === heading.toLowerCase()
}

function encodingText(record: VideoRecord): string {
  return record.state === 'encoding' ? `Preparing the video: ${Math.floor(record.progress)} %` : 'Waiting to be prepared …'
}

function failureText(code: number): string {
  const reasons: Record<number, string> = {
    4001: 'Its source could not be reached.',
    4002: 'Its source is not a video that can be read.',
    4003: 'Its source is too large or too long.',
    4004: 'The address of its source is not allowed.',
    4005: 'Its encoding was cancelled.',
  }
  return reasons[code] ?? 'It could not be prepared.'
}

function message(heading: string, detail: string, canRetry: boolean): Message {
  return { kind: 'message', heading, detail, canRetry }
}
