import { VideoState, type VideoStatus } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

const words = [
  ['waiting for encoding', VideoState.VIDEO_STATE_WAITING],
  ['encoding', VideoState.VIDEO_STATE_ENCODING],
  ['ok', VideoState.VIDEO_STATE_OK],
  ['failed', VideoState.VIDEO_STATE_FAILED],
] as const

/** Values of the list filter. */
export const stateWords = ['waiting for encoding', 'encoding', 'ok', 'failed'] as const
export type StateWord = (typeof stateWords)[number]

export const waitingWord: StateWord = 'waiting for encoding'
export const waitingCode = 1

export const VideoStatusResponse = z
  .object({
    status: z.enum(stateWords).meta({ description: 'State of the video.', example: 'ok' }),
    progress: schema.int('Progress in percent. It does not decrease within a job.', 100),
    code: schema.int(
      'Status code. 1: waiting. 2: encoding. 2000: ok. 4001 to 4005: error in the source. 5xxx: error of the platform.',
      2000,
    ),
  })
  .meta({ id: 'VideoStatus', description: 'Encoding state of the video.' })

export function videoStatusResponse(status: VideoStatus): z.input<typeof VideoStatusResponse> {
  const [word = 'failed'] = words.find(([, state]) => state === status.state) ?? []
  return { status: word, progress: status.progress, code: status.code }
}

export function toVideoState(word: StateWord | undefined): VideoState {
  return words.find(([name]) => name === word)?.[1] ?? VideoState.VIDEO_STATE_UNSPECIFIED
}
