import type { Folder } from '@vitascope/proto/catalogue/v1/folder'
import { z } from 'zod'
import { shown, timestampText } from '../public-form.ts'

export const FolderRecord = z
  .object({
    folder_id: shown.id('folder'),
    name: shown.text('Unique in its organisation.', 'Trailers'),
    description: shown.text('Free text.'),
    organisation_id: shown.id('organisation'),
    created_by_user_id: shown.text('Who made it.', '7'),
    last_modified_by_user_id: shown.text('Who changed it last.', '7'),
    time_created: shown.timestamp('When it was made.'),
    time_last_modified: shown.timestamp('When it was last changed.'),
  })
  .meta({ id: 'Folder', description: 'A folder.' })

/** Without its id, which stands beside it. */
export const FolderData = FolderRecord.omit({ folder_id: true }).meta({ id: 'FolderData' })

export function folderDataView(folder: Folder): z.input<typeof FolderData> {
  return {
    name: folder.name,
    description: folder.description,
    organisation_id: folder.organisationId,
    created_by_user_id: folder.createdByUserId,
    last_modified_by_user_id: folder.lastModifiedByUserId,
    time_created: timestampText(folder.createTime),
    time_last_modified: timestampText(folder.updateTime),
  }
}

export function folderView(folder: Folder): z.input<typeof FolderRecord> {
  return { folder_id: folder.folderId, ...folderDataView(folder) }
}
