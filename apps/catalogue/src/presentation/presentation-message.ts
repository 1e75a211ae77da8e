import { type Presentation as Message, PresentationState, type UpdatePresentationRequest } from '@vitascope/proto/catalogue/v1/presentation'
import { type Presentation, type PresentationFields, type PresentationStatus, type Timing, toStatus } from './presentation.ts'

const STATES: Record<PresentationStatus['state'], PresentationState> = {
  processing: PresentationState.PRESENTATION_STATE_PROCESSING,
  awaiting_timings: PresentationState.PRESENTATION_STATE_AWAITING_TIMINGS,
  ok: PresentationState.PRESENTATION_STATE_OK,
  failed: PresentationState.PRESENTATION_STATE_FAILED,
}

export function toMessage(presentation: Presentation): Message {
  const { processing: _, document, ...fields } = presentation
  const status = toStatus(presentation)
  return {
    ...fields,
    status: { ...status, state: STATES[status.state] },
    documentVersion: document?.version ?? '',
    documentPath: document?.path ?? '',
  }
}

/** Returns the changeable fields of a message. Missing fields become empty. */
export function fromMessage({ organisationId, userId, videoId, title, description }: Message): PresentationFields {
  return { organisationId, userId, videoId, title, description }
}

export function toTimings({ timings }: UpdatePresentationRequest): Timing[] {
  return timings.map(({ slide, seconds }) => ({ slide, seconds }))
}
