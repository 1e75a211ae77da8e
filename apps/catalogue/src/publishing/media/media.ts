import { DomainError, type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText } from '@vitascope/request'

/** A media owns the encoded files of its videos. */
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
 * Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field,
 * or SYSTEM_ONLY.
 */
export function mergeMedia(current: MediaFields, input: MediaFields, mask: readonly string[], isSystem: boolean): MediaFields {
  const systemOnlyPaths = mask.filter((path) => SYSTEM_PATHS.includes(path))
  if (systemOnlyPaths.length > 0 && !isSystem)
    throw new DomainError('forbidden', 'SYSTEM_ONLY', `only system keys may change ${systemOnlyPaths.join(' and ')}`)
  const { fields, problems } = applyMask(current, input, mask, PATHS)
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
