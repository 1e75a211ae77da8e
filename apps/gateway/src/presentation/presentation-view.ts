import { type Presentation, PresentationState, type PresentationStatus } from '@vitascope/proto/catalogue/v1/presentation'
import { z } from 'zod'
import { given, shown, timestampText } from '../public-form.ts'

const messages: Readonly<Record<Exclude<PresentationState, 'PRESENTATION_STATE_UNSPECIFIED' | 'UNRECOGNIZED'>, string>> = {
  [PresentationState.PRESENTATION_STATE_PROCESSING]: 'processing',
  [PresentationState.PRESENTATION_STATE_AWAITING_TIMINGS]: 'ok, but awaiting timings',
  [PresentationState.PRESENTATION_STATE_OK]: 'ok',
  [PresentationState.PRESENTATION_STATE_FAILED]: 'failed',
}
const numbered = 'by slide number, from `"1"`.'

export const PresentationRecord = z
  .object({
    id: shown.id('presentation'),
    filename: shown.text('Of its first file; empty before.', 'launch.pdf'),
    title: shown.text('For viewers.', 'Launch'),
    description: shown.text('For viewers.'),
    user_id: shown.id('user for whom it was made'),
    organisation_id: shown.id('organisation'),
    url: shown.text('The PDF of its first file. Empty until there is one.'),
    status: z
      .object({
        message: z.enum(['processing', 'ok, but awaiting timings', 'ok', 'failed']).meta({ example: 'ok' }),
        progress: shown.int('Percent; never backwards within a file.', 100),
        code: shown.int('2 processing, 1999 awaiting timings, 2000 ok, 4002 a fault of the file, 5xxx ours.', 2000),
        reason: shown.text('Why the last file came to nothing; for its organisation and the system. Empty when it did not.'),
      })
      .meta({ description: 'Where it stands. A later file that comes to nothing leaves it as it was.' }),
    video_id: shown.text('The video that it accompanies, and whose protection it has; empty for none.', '42'),
    date_created: shown.timestamp('When it was created.'),
    slides: z
      .record(
        z.string(),
        z.object({
          seconds: z.int().nullable().meta({ description: 'When it appears in the video; null until that is told.', example: 0 }),
          url: shown.text('Its picture, JPEG.'),
          thumbnail: shown.text('A small picture, JPEG.'),
        }),
      )
      .meta({ description: `Slides ${numbered}` }),
    slides_url: z.record(z.string(), z.string()).meta({ description: `The pictures ${numbered}` }),
    number_of_slides: shown.int('How many there are.', 12),
  })
  .meta({ id: 'Presentation', description: 'Slides beside a video.' })

type Shown = z.input<typeof PresentationRecord>

/** The same for everybody: what a guest may not see is not in the answer of the service. */
export function presentationView(presentation: Presentation, publicUrl: string): Shown {
  const addressOf = (version: string, path: string) =>
    version === '' ? '' : `${publicUrl}/delivery/presentation/${presentation.presentationId}/${version}/${path}`
  const slides = presentation.slides.map(({ version, path, thumbnailPath, seconds }) => ({
    seconds: seconds ?? null,
    url: addressOf(version, path),
    thumbnail: addressOf(version, thumbnailPath),
  }))
  return {
    id: presentation.presentationId,
    filename: presentation.filename,
    title: presentation.title,
    description: presentation.description,
    user_id: presentation.userId,
    organisation_id: presentation.organisationId,
    url: addressOf(presentation.documentVersion, presentation.documentPath),
    status: statusView(given(presentation.status, 'the status of a presentation')),
    video_id: presentation.videoId,
    date_created: timestampText(presentation.createTime),
    slides: byNumber(slides),
    slides_url: byNumber(slides.map(({ url }) => url)),
    number_of_slides: slides.length,
  }
}

function statusView({ state, progress, code, reason }: PresentationStatus): Shown['status'] {
  const message = messages[state as keyof typeof messages]
  if (message === undefined) throw new Error(`a service answered with the state ${state}`)
  return { message: message as Shown['status']['message'], progress, code, reason }
}

function byNumber<T>(values: readonly T[]): Record<string, T> {
  return Object.fromEntries(values.map((value, index) => [String(index + 1), value]))
}
