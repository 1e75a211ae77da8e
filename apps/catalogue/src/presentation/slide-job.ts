import { tidy } from '@vitascope/request'
import { toFailureCode } from '../publishing/media/status.ts'
import { MAX_SLIDES, type PresentationState, type Slide } from './presentation.ts'

/** The files that one job created from one source file, as a JSON value. The files of a set never change. */
export interface SlideSet {
  jobId: string
  prefix: string
  slides: Omit<Slide, 'version' | 'seconds'>[]
  documentPath: string
  bytes: number
}

export type SlideUpdate =
  | { kind: 'progress'; percent: number }
  | { kind: 'slides'; set: SlideSet }
  | { kind: 'failed'; code: number; message: string }

/** State of a job that makes slides. A presentation has at most one active job. */
export type SlideJobState = 'queued' | 'running' | 'ok' | 'failed' | 'cancelled'

const TOO_MANY_SLIDES: SlideUpdate = {
  kind: 'failed',
  code: 4002,
  message: `a presentation has at most ${MAX_SLIDES} slides; add the others to another presentation`,
}

/**
 * Returns the state of an active job and of its presentation after an update. `slides` is the
 * number of existing slides.
 */
export function applySlideUpdate(
  processing: PresentationState,
  slides: number,
  update: SlideUpdate,
): { state: SlideJobState; processing: PresentationState; newSlides: SlideSet | undefined } {
  switch (update.kind) {
    case 'progress': {
      const progress = Math.max(processing.progress, Math.min(98, Math.max(5, Math.floor(update.percent) || 0)))
      return { state: 'running', processing: { ...processing, progress }, newSlides: undefined }
    }
    case 'slides':
      if (slides + update.set.slides.length > MAX_SLIDES) return applySlideUpdate(processing, slides, TOO_MANY_SLIDES)
      return { state: 'ok', processing: { state: 'ready', progress: 100, code: 0, reason: '' }, newSlides: update.set }
    case 'failed': {
      // Existing slides stay unchanged. The reason explains the failure of the new file.
      const state = slides > 0 ? 'ready' : 'failed'
      const reason = tidy(update.message, 1_000)
      return {
        state: 'failed',
        processing: { state, progress: processing.progress, code: toFailureCode(update.code), reason },
        newSlides: undefined,
      }
    }
  }
}

/** Returns the state of a presentation after a file was accepted. */
export function initialState(): PresentationState {
  return { state: 'processing', progress: 5, code: 0, reason: '' }
}
