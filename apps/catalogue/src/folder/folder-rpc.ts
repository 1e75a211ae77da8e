import { notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { getScope, organisationFor, requireUser } from '@vitascope/principal'
import type { FolderServiceService } from '@vitascope/proto/catalogue/v1/folder'
import { isId, pageById } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { checkFolder, mergeFolder } from './folder.ts'
import type { FolderKey, FolderStore } from './folder-store.ts'

/** Maximum page size. With descriptions of maximum length, a page has about 2 MiB. */
const MAX_FOLDERS = 100
const DEFAULT_VIDEOS = 100
const MAX_VIDEOS = 1_000

export function folderHandlers(folders: FolderStore, organisations: Organisations): Handlers<typeof FolderServiceService> {
  return {
    async listFolders({ organisationId: requestedId, ...page }, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      const { rows, nextPageToken } = await pageById(page, MAX_FOLDERS, {
        read: (position) => folders.list(organisationId, position, signal),
        getId: ({ folderId }) => folderId,
      })
      return { folders: rows, nextPageToken }
    },
    async createFolder({ organisationId: requestedId, name, description }, call) {
      const { userId } = requireUser(call.principal)
      const organisationId = await requireOrganisation(organisations, call.principal, requestedId, call.signal)
      return { folder: await folders.create({ organisationId, userId, ...checkFolder({ name, description }) }, call) }
    },
    async updateFolder({ folder: input, updateMask = [] }, { principal, signal }) {
      const { userId } = requireUser(principal)
      if (!input) throw notFound('folder', '')
      const key = toKey(principal, input.folderId, input.organisationId)
      return folders.update(key, userId, (current) => mergeFolder(current, input, updateMask), signal)
    },
    async deleteFolder({ folderId, organisationId }, { principal, signal }) {
      return { folder: await folders.remove(toKey(principal, folderId, organisationId), signal) }
    },
    async listFolderVideos({ folderId, ...page }, { principal, signal }) {
      const key = toKey(principal, folderId)
      const pageRequest = { ...page, pageSize: page.pageSize === 0 ? DEFAULT_VIDEOS : page.pageSize }
      const { rows, nextPageToken } = await pageById(pageRequest, MAX_VIDEOS, {
        read: (position) => folders.videos(key, position, signal),
        getId: ({ position }) => position,
      })
      return { videoIds: rows.map(({ videoId }) => videoId), nextPageToken }
    },
    async addFolderVideo({ folderId, videoId }, call) {
      return { added: await folders.addVideo(toKey(call.principal, folderId), videoId, call) }
    },
    async removeFolderVideo({ folderId, videoId }, call) {
      await folders.removeVideo(toKey(call.principal, folderId), videoId, call)
      return {}
    },
  }
}

/** Returns the key of a folder. If the caller specifies an organisation, the folder must belong to it. */
function toKey(principal: Principal, folderId: string, requestedId = ''): FolderKey {
  const owner = requestedId === '' ? getScope(principal) : (organisationFor(principal, requestedId) ?? null)
  if (!isId(folderId) || (owner !== null && !isId(owner))) throw notFound('folder', folderId)
  return { scope: owner, folderId }
}
