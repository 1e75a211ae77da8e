import { failureCode } from '../media/status.ts'
import { tidy } from '../text.ts'
import { MOST_SLIDES, type Slide, type Standing } from './presentation.ts'

/** Everything that one job made of one file: a plain JSON value. Its objects never change. */
export interface SlideSet {
  jobId: string
  prefix: string
  slides: Omit<Slide, 'version' | 'seconds'>[]
  documentPath: string
  bytes: number
}

export type SlideNews =
  | { kind: 'progress'; percent: number }
  | { kind: 'slides'; set: SlideSet }
  | { kind: 'failed'; code: number; message: string }

/** A job that makes slides; one that stands is the only one of its presentation under way. */
export type SlideJobState = 'queued' | 'running' | 'ok' | 'failed' | 'cancelled'

const TOO_MANY: SlideNews = {
  kind: 'failed',
  code: 4002,
  message: `a presentation holds at most ${MOST_SLIDES} slides: put the rest into another one`,
}

/** What news makes of a job that stands, and of its presentation, which has so many slides already. */
export function settleSlides(
  standing: Standing,
  slides: number,
  news: SlideNews,
): { state: SlideJobState; standing: Standing; added: SlideSet | undefined } {
  switch (news.kind) {
    case 'progress': {
      const progress = Math.max(standing.progress, Math.min(98, Math.max(5, Math.floor(news.percent) || 0)))
      return { state: 'running', standing: { ...standing, progress }, added: undefined }
    }
    case 'slides':
      if (slides + news.set.slides.length > MOST_SLIDES) return settleSlides(standing, slides, TOO_MANY)
      return { state: 'ok', standing: { state: 'ready', progress: 100, code: 0, reason: '' }, added: news.set }
    case 'failed': {
      // What was there before stays as it was; the reason tells that nothing came to it.
      const state = slides > 0 ? 'ready' : 'failed'
      const reason = tidy(news.message, 1_000)
      return { state: 'failed', standing: { state, progress: standing.progress, code: failureCode(news.code), reason }, added: undefined }
    }
  }
}

/** A file that has just come. */
export function begun(): Standing {
  return { state: 'processing', progress: 5, code: 0, reason: '' }
}
