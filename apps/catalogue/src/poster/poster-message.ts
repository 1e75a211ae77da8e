import { type Poster as Message, PosterState } from '@vitascope/proto/catalogue/v1/poster'
import type { Poster } from './poster.ts'

const STATES = {
  processing: PosterState.POSTER_STATE_PROCESSING,
  ok: PosterState.POSTER_STATE_OK,
  failed: PosterState.POSTER_STATE_FAILED,
} as const

export function toPosterMessage(poster: Poster): Message {
  return { ...poster, state: STATES[poster.state] }
}
