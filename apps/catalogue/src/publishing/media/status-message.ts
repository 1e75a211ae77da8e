import { VideoState, type VideoStatus } from '@vitascope/proto/catalogue/v1/video'
import type { Status } from './status.ts'

const STATES: Record<Status['state'], VideoState> = {
  waiting: VideoState.VIDEO_STATE_WAITING,
  encoding: VideoState.VIDEO_STATE_ENCODING,
  ok: VideoState.VIDEO_STATE_OK,
  failed: VideoState.VIDEO_STATE_FAILED,
}

export function toStatusMessage(status: Status): VideoStatus {
  return { ...status, state: STATES[status.state] }
}

/** Returns undefined for `VIDEO_STATE_UNSPECIFIED`, which is the filter for videos in any state. */
export function fromStateMessage(message: VideoState): Status['state'] | undefined {
  return (Object.keys(STATES) as Status['state'][]).find((state) => STATES[state] === message)
}
