import { VideoState, type VideoStatus } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { shown } from '../public-form.ts'

const words = [
  ['waiting for encoding', VideoState.VIDEO_STATE_WAITING],
  ['encoding', VideoState.VIDEO_STATE_ENCODING],
  ['ok', VideoState.VIDEO_STATE_OK],
  ['failed', VideoState.VIDEO_STATE_FAILED],
] as const

/** What the filter of a list takes. */
export const stateWords = ['waiting for encoding', 'encoding', 'ok', 'failed'] as const
export type StateWord = (typeof stateWords)[number]

export const waitingWord: StateWord = 'waiting for encoding'
export const waitingCode = 1

export const VideoStatusShape = z
  .object({
    status: z.enum(stateWords),
    progress: shown.int('Percent; never backwards within a job.', 100),
    code: shown.int('1 waiting, 2 encoding, 2000 ok, 4001 to 4005 a fault of the source, 5xxx ours.', 2000),
  })
  .meta({ id: 'VideoStatus', description: 'Where the video stands.' })

export function videoStatusView(status: VideoStatus): z.input<typeof VideoStatusShape> {
  const [word = 'failed'] = words.find(([, state]) => state === status.state) ?? []
  return { status: word, progress: status.progress, code: status.code }
}

export function stateOf(word: StateWord | undefined): VideoState {
  return words.find(([name]) => name === word)?.[1] ?? VideoState.VIDEO_STATE_UNSPECIFIED
}
