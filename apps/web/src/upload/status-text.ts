import type { CaptionState } from './captions-sync.ts'
import type { SaveState } from './details-sync.ts'
import type { PictureState } from './picture-sync.ts'
import type { Waiting } from './retry.ts'
import { formatTransfer } from './transfer-text.ts'
import type { UploadItem } from './upload-item.ts'

/** Returns the sentence about an upload. A failed upload has its own text. */
export function formatUpload(
  { state, sentBytes, rate, file }: Pick<UploadItem, 'state' | 'sentBytes' | 'rate' | 'file'>,
  isOpen: boolean,
): string {
  switch (state.kind) {
    case 'waiting':
      return isOpen ? 'Waiting for its turn' : 'Waiting for your access key'
    case 'uploading':
      if (state.waiting) return formatWaiting(state.waiting)
      return sentBytes === 0 ? 'Starting …' : formatTransfer(sentBytes, file.size, rate)
    case 'creating':
      return state.waiting ? formatWaiting(state.waiting) : 'Uploaded. The video is being created …'
    case 'paused':
      return 'Paused. You can continue within a day, also if you close this page and choose the file again.'
    case 'uploaded':
      return 'Uploaded. The video waits to be prepared.'
    case 'failed':
      return ''
  }
}

/** Percentages that are announced. */
const ANNOUNCED_STEP = 25

/**
 * Returns what screen readers announce about an upload. `encodingText` is known after the upload.
 */
export function formatAnnouncement(
  { state, sentBytes, file }: Pick<UploadItem, 'state' | 'sentBytes' | 'file'>,
  encodingText?: string,
): string {
  const step = Math.floor((100 * sentBytes) / Math.max(file.size, 1) / ANNOUNCED_STEP) * ANNOUNCED_STEP
  switch (state.kind) {
    case 'waiting':
      return ''
    case 'uploading':
      if (state.waiting) return formatWaiting(state.waiting)
      return step > 0 ? `${step} % uploaded` : 'Uploading'
    case 'creating':
      return 'Uploaded'
    case 'paused':
      return 'Paused'
    case 'uploaded':
      return encodingText ?? 'Uploaded'
    case 'failed':
      return state.text
  }
}

function formatWaiting(waiting: NonNullable<Waiting>): string {
  return waiting === 'busy'
    ? 'The server is busy. The upload continues by itself.'
    : 'Connection lost. The upload continues by itself when the connection is back.'
}

/** Returns a short text about the details of a video. */
export function formatSaving(state: SaveState): string {
  switch (state.kind) {
    case 'unchanged':
      return ''
    case 'after upload':
      return 'Saved when the upload is complete'
    case 'saving':
      return state.waiting ? 'Not saved yet. Trying again …' : 'Saving …'
    case 'saved':
      return 'Saved'
    case 'failed':
      return 'Not saved'
  }
}

/** Returns a short text about a caption file. */
export function formatCaption(state: CaptionState): string {
  switch (state.kind) {
    case 'language missing':
      return 'Choose the language.'
    case 'after upload':
      return 'Added when the upload is complete'
    case 'sending':
      return state.waiting ? 'Not added yet. Trying again …' : 'Adding …'
    case 'added':
      return 'Added'
    case 'failed':
      return `Not added. ${state.text}`
    case 'removing':
      return 'Removing …'
    case 'not removed':
      return `Not removed. ${state.text}`
  }
}

/** Returns a short text about the picture of a video. */
export function formatPicture(state: PictureState): string {
  switch (state.kind) {
    case 'none':
      return ''
    case 'after upload':
      return 'Set when the upload is complete'
    case 'sending':
      return state.waiting ? 'Not set yet. Trying again …' : 'Sending …'
    case 'converting':
      return 'Sent. The picture is being prepared …'
    case 'set':
      return 'Set'
    case 'failed':
      return `Not set. ${state.text}`
    case 'removing':
      return 'Removing …'
    case 'not removed':
      return `Not removed. ${state.text}`
  }
}
