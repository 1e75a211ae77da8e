import { type Presentation, PresentationState, type PresentationStatus } from '@vitascope/proto/catalogue/v1/presentation'
import { z } from 'zod'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'

const messages: Readonly<Record<Exclude<PresentationState, 'PRESENTATION_STATE_UNSPECIFIED' | 'UNRECOGNIZED'>, string>> = {
  [PresentationState.PRESENTATION_STATE_PROCESSING]: 'processing',
  [PresentationState.PRESENTATION_STATE_AWAITING_TIMINGS]: 'ok, but awaiting timings',
  [PresentationState.PRESENTATION_STATE_OK]: 'ok',
  [PresentationState.PRESENTATION_STATE_FAILED]: 'failed',
}
const numbered = 'by slide number, starting at `"1"`.'

export const PresentationResponse = z
  .object({
    id: schema.id('presentation'),
    filename: schema.text('Name of its first file. Empty before the first file.', 'launch.pdf'),
    title: schema.text('Title that viewers see.', 'Launch'),
    description: schema.text('Description that viewers see.', 'The launch, from the gate to orbit.'),
    user_id: schema.id('user for whom it was created'),
    organisation_id: schema.id('organisation'),
    url: schema.text(
      'URL of the PDF of its first file. Empty until it exists.',
      'https://video.example.org/delivery/presentation/51/k3v9/document.pdf',
    ),
    status: z
      .object({
        message: z.enum(['processing', 'ok, but awaiting timings', 'ok', 'failed']).meta({ example: 'ok' }),
        progress: schema.int('Progress in percent. It does not decrease while a file is processed.', 100),
        code: schema.int(
          'Status code. 2: processing. 1999: awaiting timings. 2000: ok. 4002: error in the file. 4003: the slides exceed the quota. 5xxx: error of the platform.',
          2000,
        ),
        reason: schema.text(
          'Reason why the last file failed, shown to its organisation and to system users. Empty if it did not fail.',
          '',
        ),
      })
      .meta({ description: 'State of the presentation. A later file that fails does not change it.' }),
    video_id: schema.text(
      'Id of the video that it accompanies. The protection of that video applies to the slides. Empty if there is none.',
      '42',
    ),
    date_created: schema.timestamp('Time of creation.'),
    slides: z
      .record(
        z.string(),
        z.object({
          seconds: z
            .int()
            .nullable()
            .meta({ description: 'Time in the video, in seconds, at which the slide appears. null until it is set.', example: 0 }),
          url: schema.text('URL of the JPEG picture of the slide.', 'https://video.example.org/delivery/presentation/51/k3v9/s1.jpg'),
          thumbnail: schema.text(
            'URL of a small JPEG picture of the slide.',
            'https://video.example.org/delivery/presentation/51/k3v9/t1.jpg',
          ),
        }),
      )
      .meta({ description: `Slides ${numbered}` }),
    slides_url: z.record(z.string(), z.string()).meta({ description: `URLs of the pictures ${numbered}` }),
    number_of_slides: schema.int('Number of slides.', 12),
  })
  .meta({ id: 'Presentation', description: 'A presentation: slides that appear next to a video.' })

type PresentationBody = z.input<typeof PresentationResponse>

/**
 * Returns the public record. It is the same for all callers, because the service omits what guests
 * may not see.
 */
export function presentationResponse(presentation: Presentation, mediaUrl: string): PresentationBody {
  const formatUrl = (version: string, path: string) =>
    version === '' ? '' : `${mediaUrl}/delivery/presentation/${presentation.presentationId}/${version}/${path}`
  const slides = presentation.slides.map(({ version, path, thumbnailPath, seconds }) => ({
    seconds: seconds ?? null,
    url: formatUrl(version, path),
    thumbnail: formatUrl(version, thumbnailPath),
  }))
  return {
    id: presentation.presentationId,
    filename: presentation.filename,
    title: presentation.title,
    description: presentation.description,
    user_id: presentation.userId,
    organisation_id: presentation.organisationId,
    url: formatUrl(presentation.documentVersion, presentation.documentPath),
    status: statusResponse(required(presentation.status, 'status of the presentation')),
    video_id: presentation.videoId,
    date_created: formatOptionalTimestamp(presentation.createTime),
    slides: numberFromOne(slides),
    slides_url: numberFromOne(slides.map(({ url }) => url)),
    number_of_slides: slides.length,
  }
}

function statusResponse({ state, progress, code, reason }: PresentationStatus): PresentationBody['status'] {
  const message = messages[state as keyof typeof messages]
  if (message === undefined) throw new Error(`the catalogue returned the unknown presentation state ${state}`)
  return { message: message as PresentationBody['status']['message'], progress, code, reason }
}

function numberFromOne<T>(values: readonly T[]): Record<string, T> {
  return Object.fromEntries(values.map((value, index) => [String(index + 1), value]))
}
