import { DomainError, type FieldError, invalid } from '@vitascope/errors'
import { checkText } from '../rules/text.ts'

/** Contains videos of its organisation. A video can be in several folders. */
export interface Folder extends FolderFields {
  folderId: string
  organisationId: string
  createdByUserId: string
  lastModifiedByUserId: string
  createTime: Date
  updateTime: Date
}

export interface FolderFields {
  /** Unique within the organisation. */
  name: string
  description: string
}

const CHECKS: { [K in keyof FolderFields]: (value: string) => FieldError[] } = {
  name: (value) =>
    value.trim() === '' ? [{ field: 'name', message: 'must not be blank' }] : checkText('name', value, { min: 1, max: 255 }),
  description: (value) => checkText('description', value, { max: 5_000 }),
}

/** Returns the fields. Throws `invalid` with every invalid field. */
export function checkFolder(fields: FolderFields): FolderFields {
  const problems = [...CHECKS.name(fields.name), ...CHECKS.description(fields.description)]
  if (problems.length > 0) throw invalid(problems)
  return fields
}

/** Returns the fields with the masked ones replaced by those of `given`. Throws `invalid`. */
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
  return new DomainError('exists', 'FOLDER_EXISTS', `the organisation already has a folder with this name: ${name}`, { cause })
}
