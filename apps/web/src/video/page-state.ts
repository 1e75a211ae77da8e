import type { CardIcon } from '../dom/icons.ts'
import type { TextKey } from '../language/english.ts'
import { text } from '../language/text.ts'
import type { VideoRecord } from './video-record.ts'

/** Result of a request for the video. */
export type VideoResult = { record: VideoRecord } | { status: number; code: string; detail: string } | { unreachable: true }

interface Message {
  kind: 'message'
  icon: CardIcon
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
  if ('unreachable' in result) return createMessage('offline', text('noConnection'), text('serverUnreachableRetrying'), true)
  if ('status' in result) return toRejectionState(result)

  const { record } = result
  if (record.tokenRequired && !hasToken) return createPersonalLinkMessage()
  const isEncoding = record.state === 'encoding' || record.state === 'waiting for encoding'
  if (record.hls !== '' || record.mp4 !== '') return { kind: 'playable', record, isEncoding }
  if (isEncoding) return { kind: 'encoding', record, text: formatEncodingText(record) }
  return createMessage('failed', text('cannotBeShown'), toFailureText(record.code), false)
}

/**
 * Returns the message for a viewer whose media files are rejected. `code` is the code of the
 * problem document of the delivery service.
 */
export function toRejectionMessage(code: string, detail = ''): Message {
  if (code === 'rule_refused') return createMessage('place', text('notAvailableHere'), detail || text('ruleDetail'), false)
  if (code === 'address_refused') return createMessage('place', text('notAvailableHere'), text('foreignNetwork'), false)
  if (code === 'too_many_sessions') return createMessage('devices', text('playingElsewhere'), text('playingElsewhereDetail'), false)
  if (code === 'session_ended') return createMessage('devices', text('playbackEnded'), text('playbackEndedDetail'), false)
  if (foreignPlaceCodes.has(code)) return createMessage('place', text('notAvailableHere'), text('foreignPlace'), false)
  if (code === 'token_expired') return createMessage('locked', text('linkExpired'), text('newLinkDetail'), false)
  if (brokenTokenCodes.has(code)) return createMessage('locked', text('linkInvalid'), text('newLinkDetail'), false)
  return createPersonalLinkMessage()
}

/** Codes for tokens that were never valid for the video. The video itself may be public. */
const brokenTokenCodes: ReadonlySet<string> = new Set([
  'token_malformed',
  'token_wrong_algorithm',
  'token_unknown_key',
  'token_bad_signature',
  'token_invalid_claim',
  'token_wrong_video',
])

/** Codes for tokens that are valid for another page, network or country. */
const foreignPlaceCodes: ReadonlySet<string> = new Set(['token_wrong_address', 'token_wrong_country', 'token_wrong_domain'])

/** Returns the message for a viewer without a valid token. */
function createPersonalLinkMessage(): Message {
  return createMessage('locked', text('protected'), text('protectedDetail'), false)
}

/** Returns the message for a video whose files cannot be played. */
export function createUnplayableMessage(): Message {
  return createMessage('failed', text('cannotBePlayed'), text('filesUnreadable'), false)
}

/** Returns the message for a page whose scripts belong to an earlier version of the player. */
export function createOutdatedMessage(): Message {
  return createMessage('offline', text('oneMoment'), text('pageOutdated'), false)
}

/** Returns the message for a browser that can play none of the files. */
export function createUnsupportedMessage(): Message {
  return createMessage('unsupported', text('unsupported'), text('unsupportedDetail'), false)
}

function toRejectionState({ status, code, detail }: { status: number; code: string; detail: string }): PageState {
  if (status === 429 || status >= 500) return createMessage('offline', text('oneMoment'), text('serverBusy'), true)
  if (status === 403 && code === 'rule_refused') return toRejectionMessage(code, detail)
  if (status === 401 || status === 403) return createPersonalLinkMessage()
  if (code === 'video_expired')
    return createMessage('expired', text('noLongerAvailable'), isSameText(detail, EXPIRED_DETAIL) ? '' : detail, false)
  return createMessage('missing', text('notAvailable'), text('notAvailableDetail'), false)
}

/**
 * Text of the server for an expired video without a message of the owner. It repeats the heading,
 * so it is not shown.
 */
const EXPIRED_DETAIL = 'This video is no longer available'

/** Compares texts without regard to case and a full stop at the end of the first one. */
function isSameText(detail: string, expected: string): boolean {
  return detail.toLowerCase().replace(/\.$/, '') === expected.toLowerCase()
}

function formatEncodingText(record: VideoRecord): string {
  return record.state === 'encoding' ? text('preparing', { percent: Math.floor(record.progress) }) : text('waitingToBePrepared')
}

const failureKeys: Readonly<Record<number, TextKey>> = {
  4001: 'sourceUnreachable',
  4002: 'sourceUnreadable',
  4003: 'sourceTooLarge',
  4004: 'sourceNotAllowed',
  4005: 'encodingCancelled',
}

function toFailureText(code: number): string {
  return text(failureKeys[code] ?? 'encodingFailed')
}

function createMessage(icon: CardIcon, heading: string, detail: string, canRetry: boolean): Message {
  return { kind: 'message', icon, heading, detail, canRetry }
}
