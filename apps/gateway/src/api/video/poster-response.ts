import { type Poster, PosterState } from '@vitascope/proto/catalogue/v1/poster'
import { z } from 'zod'
import { required, schema } from '../../server/schema/response-format.ts'

const STATUSES: Readonly<Partial<Record<PosterState, 'processing' | 'ok' | 'failed'>>> = {
  [PosterState.POSTER_STATE_PROCESSING]: 'processing',
  [PosterState.POSTER_STATE_OK]: 'ok',
  [PosterState.POSTER_STATE_FAILED]: 'failed',
}

/** The picture that was set for a video. */
export const PosterResponse = z.object({
  status: z
    .enum(['processing', 'ok', 'failed'])
    .meta({ description: '`ok`: the video shows the picture. `failed`: it shows the images that it had before.', example: 'ok' }),
  code: schema.int('0. For a failed picture 4001 to 4004 for an error of the picture, or 5xxx for an error of the platform.', 0),
  reason: schema.text('Reason of the failure. Empty if it did not fail.', ''),
})

export function posterResponse({ state, code, reason }: Poster): z.input<typeof PosterResponse> {
  return { status: required(STATUSES[state], 'state of the picture'), code, reason }
}
