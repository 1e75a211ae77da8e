import { DomainError, type FieldError, invalid } from '@vitascope/errors'
import { checkText } from '../text.ts'

/** Holds videos of its organisation; a video may lie in several. */
export interface Folder extends FolderFields {
  folderId: string
  organisationId: string
  createdByUserId: string
  lastModifiedByUserId: string
  createTime: Date
  updateTime: Date
}

export interface FolderFields {
  /** Unique in its organisation. */
  name: string
  description: string
}

const CHECKS: { [K in keyof FolderFields]: (value: string) => FieldError[] } = {
  name: (value) =>
    value.trim() === '' ? [{ field: 'name', message: 'must not be blank' }] : checkText('name', value, { min: 1, max: 255 }),
  description: (value) => checkText('description', value, { max: 5_000 }),
}

/** Refuses with every bad field. */
export function checkFolder(fields: FolderFields): FolderFields {
  const problems = [...CHECKS.name(fields.name), ...CHECKS.description(fields.description)]
  if (problems.length > 0) throw invalid(problems)
  return fields
}

/** The fields with those that the mask names taken from `given`. */
export function mergeFolder(now: FolderFields, given: FolderFields, mask: readonly string[]): FolderFields {
  const unknown = mask
    .filter((path) => path !== 'name' && path !== 'description')
    .map((path) => ({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` }))
  if (unknown.length > 0) throw invalid(unknown)
  return checkFolder({
    name: mask.includes('name') ? given.name : now.name,
    description: mask.includes('description') ? given.description : now.description,
  })
}

export function folderExists(name: string, cause: unknown): DomainError {
  return new DomainError('exists', 'FOLDER_EXISTS', `the organisation has a folder of this name already: ${name}`, { cause })
}
