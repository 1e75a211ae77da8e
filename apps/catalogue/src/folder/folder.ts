import { DomainError, requireValid } from '@vitascope/errors'
import { applyMask, checkText } from '@vitascope/request'

/** A folder contains videos of its organisation. A video can be in several folders. */
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

const PATHS = new Map<string, keyof FolderFields>([
  ['name', 'name'],
  ['description', 'description'],
])

/** Returns the fields. Throws `invalid` with every invalid field. */
export function checkFolder(fields: FolderFields): FolderFields {
  requireValid([
    ...checkText('name', fields.name, { max: 255, blank: false }),
    ...checkText('description', fields.description, { max: 5_000 }),
  ])
  return fields
}

/** Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field. */
export function mergeFolder(current: FolderFields, input: FolderFields, mask: readonly string[]): FolderFields {
  const { fields, problems } = applyMask(current, input, mask, PATHS)
  requireValid(problems)
  return checkFolder(fields)
}

export function folderExists(name: string, cause: unknown): DomainError {
  return new DomainError('exists', 'FOLDER_EXISTS', `the organisation already has a folder with this name: ${name}`, { cause })
}
