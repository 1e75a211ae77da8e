import { DomainError, type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText } from '@vitascope/request'

/** The parent of videos; it owns the encoded files. */
export interface Media {
  mediaId: string
  organisationId: string
  title: string
  originalFilename: string
  encodedFilenames: string[]
  tokenRequired: boolean
  gifStatus: number
  updateTime: Date
}

export type MediaFields = Pick<Media, 'title' | 'originalFilename' | 'tokenRequired' | 'gifStatus'>

const PATHS = new Map<string, keyof MediaFields>([
  ['title', 'title'],
  ['gif_status', 'gifStatus'],
  ['original_filename', 'originalFilename'],
  ['token_required', 'tokenRequired'],
])
const SYSTEM_PATHS = ['original_filename', 'token_required']

/**
 * Returns the fields with the masked ones replaced by those of `given`. Throws `invalid` with every
 * invalid field, or SYSTEM_ONLY.
 */
export function mergeMedia(now: MediaFields, given: MediaFields, mask: readonly string[], isSystem: boolean): MediaFields {
  const own = mask.filter((path) => SYSTEM_PATHS.includes(path))
  if (own.length > 0 && !isSystem) throw new DomainError('forbidden', 'SYSTEM_ONLY', `only system keys may change ${own.join(' and ')}`)
  const { fields, problems } = applyMask(now, given, mask, PATHS)
  requireValid([...problems, ...checkMedia(fields)])
  return fields
}

function checkMedia({ title, originalFilename, gifStatus }: MediaFields): FieldError[] {
  return [
    ...checkText('title', title, { min: 1, max: 255 }),
    ...checkText('original_filename', originalFilename, { min: 1, max: 255 }),
    ...(gifStatus === 0 || gifStatus === 1 ? [] : [{ field: 'gif_status', message: 'must be 0 or 1' }]),
  ]
}
