import { type FieldError, requireValid } from '@vitascope/errors'
import { checkSourceUrl, toFilename } from '../publishing/media/source.ts'
import { newRandomId } from '../rules/id.ts'
import { removeDuplicates } from './video-checks.ts'
import { checkVideoFields, createVideoFields, type VideoFieldName, type VideoFields } from './video-fields.ts'

/** The fields of a request for a new video. */
export interface UploadRequest {
  sourceUrl: string
  /** Empty to use the file name. */
  name: string
  description: string
  descriptionPrivate: string
  tags: string[]
  publishedWidth?: number | undefined
  publishedHeight?: number | undefined
  themeId: string
  settingId: string
  notify: boolean
  startsWaiting: boolean
  lowPriority: boolean
  /** Empty means `public`. */
  visibility: string
}

/** A new video with its media and its encode job, complete and validated. */
export interface Upload {
  videoId: string
  mediaId: string
  organisationId: string
  userId: string
  sourceUrl: string
  originalFilename: string
  fields: VideoFields
  notify: boolean
  startsWaiting: boolean
  /** Jobs with normal priority run first, until this job has waited for VITASCOPE_LOW_PRIORITY_MAX_WAIT_SECONDS. */
  lowPriority: boolean
}

/** The fields of a new video that the request contains. */
const REQUEST_FIELDS: readonly VideoFieldName[] = [
  ...([
    'title',
    'description',
    'descriptionPrivate',
    'tags',
    'publishedWidth',
    'publishedHeight',
    'themeId',
    'settingId',
    'visibility',
  ] as const),
]

export function planUpload(request: UploadRequest, organisationId: string, userId: string): Upload {
  const problems: FieldError[] = checkSourceUrl('source_url', request.sourceUrl)
  const originalFilename = problems.length === 0 ? toFilename(request.sourceUrl) : 'video'
  const { description, descriptionPrivate, publishedWidth, publishedHeight, themeId, settingId } = request
  const fields = {
    ...createVideoFields(request.name === '' ? originalFilename : request.name),
    ...{ description, descriptionPrivate, publishedWidth, publishedHeight, themeId, settingId },
    tags: removeDuplicates(request.tags),
    visibility: request.visibility || 'public',
  }
  problems.push(...checkVideoFields(fields, REQUEST_FIELDS, { title: 'name' }))
  requireValid(problems)
  const { sourceUrl, notify, startsWaiting, lowPriority } = request
  return {
    videoId: newRandomId(),
    mediaId: newRandomId(),
    organisationId,
    userId,
    sourceUrl,
    originalFilename,
    fields,
    notify,
    startsWaiting,
    lowPriority,
  }
}
