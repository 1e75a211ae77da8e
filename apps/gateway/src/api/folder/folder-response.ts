import type { Folder } from '@vitascope/proto/catalogue/v1/folder'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const FolderResponse = z
  .object({
    folder_id: schema.id('folder'),
    name: schema.text('Name of the folder. It is unique in its organisation.', 'Trailers'),
    description: schema.text('Description of the folder. Free text.', 'Trailers of 2030'),
    organisation_id: schema.id('organisation'),
    created_by_user_id: schema.text('Id of the user who created the folder.', '7'),
    last_modified_by_user_id: schema.text('Id of the user who last changed the folder.', '7'),
    time_created: schema.timestamp('Time of creation.'),
    time_last_modified: schema.timestamp('Time of the last change.'),
  })
  .meta({ id: 'Folder', description: 'A folder.' })

/** A folder record without its id, which the response has as a separate field. */
export const FolderDataResponse = FolderResponse.omit({ folder_id: true }).meta({ id: 'FolderData' })

export function folderDataResponse(folder: Folder): z.input<typeof FolderDataResponse> {
  return {
    name: folder.name,
    description: folder.description,
    organisation_id: folder.organisationId,
    created_by_user_id: folder.createdByUserId,
    last_modified_by_user_id: folder.lastModifiedByUserId,
    time_created: formatOptionalTimestamp(folder.createTime),
    time_last_modified: formatOptionalTimestamp(folder.updateTime),
  }
}

export function folderResponse(folder: Folder): z.input<typeof FolderResponse> {
  return { folder_id: folder.folderId, ...folderDataResponse(folder) }
}
