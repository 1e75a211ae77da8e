import type { VideoRecord } from './video-record.ts'

/** Result of a request for the video. */
export type VideoResult = { record: VideoRecord } | { status: number; code: string; detail: string } | { unreachable: true }

interface Message {
  kind: 'message'
  heading: string
  detail: string
  canRetry: boolean
}

/** State of the page. With `canRetry`, the page requests the video again after a delay. */
export type PageState =
  | { kind: 'playable'; record: VideoRecord; isEncoding: boolean }
  | { kind: 'encoding'; record: VideoRecord; text: string }
  | Message

export function toPageState(result: VideoResult, hasToken: boolean): PageState {
  if ('unreachable' in result) return createMessage('No connection', 'The server cannot be reached. Trying again …', true)
  if ('status' in result) return toRejectionState(result)

  const { record } = result
  if (record.tokenRequired && !hasToken) return personalLinkMessage
  const isEncoding = record.state === 'encoding' || record.state === 'waiting for encoding'
  if (record.hls !== '' || record.mp4 !== '') return { kind: 'playable', record, isEncoding }
  if (isEncoding) return { kind: 'encoding', record, text: formatEncodingText(record) }
  return createMessage('This video cannot be shown', toFailureText(record.code), false)
}

/**
 * Returns the message for a viewer whose media files are rejected. `code` is the code of the
 * problem document of the delivery service.
 */
export function toRejectionMessage(code: string, detail = ''): Message {
  if (code === 'rule_refused')
    return createMessage('This video is not available here', detail || 'Its owner does not allow it on this page or in this place.', false)
  if (code === 'address_refused') return foreignNetworkMessage
  if (code === 'too_many_sessions') return tooManySessionsMessage
  if (code === 'session_ended') return sessionEndedMessage
  if (foreignPlaceCodes.has(code)) return foreignPlaceMessage
  return personalLinkMessage
}

const foreignNetworkMessage: Message = createMessage(
  'This video is not available here',
  'Its owner allows it on certain networks only.',
  false,
)

const tooManySessionsMessage: Message = createMessage(
  'This video is playing elsewhere',
  'It plays on as many devices as your access allows. Stop it on one of them, and try again after half a minute.',
  false,
)
const sessionEndedMessage: Message = createMessage('Playback was ended', 'The owner of the video has ended it on this device.', false)

/** Codes for tokens that are valid for another page, network or country. */
const foreignPlaceCodes: ReadonlySet<string> = new Set(['token_wrong_address', 'token_wrong_country', 'token_wrong_domain'])
const foreignPlaceMessage: Message = createMessage(
  'This video is not available here',
  'Your link is valid on another page, in another network or in another country.',
  false,
)

/** Message for a viewer without a valid token. */
export const personalLinkMessage: Message = createMessage(
  'This video is protected',
  'It requires a personal link. Ask its sender for a valid one.',
  false,
)

function toRejectionState({ status, code, detail }: { status: number; code: string; detail: string }): PageState {
  if (status === 429 || status >= 500) return createMessage('One moment', 'The server is busy. Trying again …', true)
  if (status === 403 && code === 'rule_refused') return toRejectionMessage(code, detail)
  if (status === 401 || status === 403) return personalLinkMessage
  if (code === 'video_expired') return createMessage(expiredHeading, isSameText(detail, expiredHeading) ? '' : detail, false)
  return createMessage('This video is not available', 'It may have been removed, or its address is wrong.', false)
}

const expiredHeading = 'This video is no longer available'

/**
 * If the owner wrote no message, the response has the default text of the server, which repeats the
 * heading.
 */
function isSameText(detail: string, heading: string): boolean {
  return detail.toLowerCase().replace(/\.$/, '') === heading.toLowerCase()
}

function formatEncodingText(record: VideoRecord): string {
  return record.state === 'encoding' ? `Preparing the video: ${Math.floor(record.progress)} %` : 'Waiting to be prepared …'
}

function toFailureText(code: number): string {
  const reasons: Record<number, string> = {
    4001: 'Its source could not be reached.',
    4002: 'Its source is not a video that can be read.',
    4003: 'Its source is too large or too long.',
    4004: 'The address of its source is not allowed.',
    4005: 'Its encoding was cancelled.',
  }
  return reasons[code] ?? 'It could not be prepared.'
}

function createMessage(heading: string, detail: string, canRetry: boolean): Message {
  return { kind: 'message', heading, detail, canRetry }
}
