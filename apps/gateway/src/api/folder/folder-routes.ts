import { invalid } from '@vitascope/errors'
import { Folder } from '@vitascope/proto/catalogue/v1/folder'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, organisationIdField, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'
import { FolderDataResponse, FolderResponse, folderDataResponse, folderResponse } from './folder-response.ts'

const name = text(255, { min: 1 }, { description: 'Name of the folder. It is unique in its organisation.', example: 'Trailers' })
const description = text(5_000, {}, { description: 'Description of the folder. Free text.' })
const synonyms = { title: 'name' }
const exists = { folder_exists: 'The organisation already has a folder with this name.' }
const folderParams = z.object({ folderId: id('folder') })
const videoParams = z.object({ folderId: id('folder'), videoId: id('video') })

export const listFolders = route({
  get: ['/folder/:organisationId'],
  operationId: 'listFolders',
  section: 'Folders',
  access: 'user',
  summary: 'List the folders of an organisation',
  description: 'Returns one object with the folders by id, or `[{}]` if there are none.',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  response: z.array(z.record(z.string(), FolderResponse)),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { folders, nextPageToken } = await services.folders.listFolders({ organisationId, ...page }, call)
      return { rows: folders, nextPageToken }
    })
    const folders = Object.fromEntries(rows.map((folder) => [folder.folderId, folderResponse(folder)]))
    return new Reply([folders], { headers: nextLink(publicUrl, `/folder/${organisationId}`, { ...query, nextCursor }) })
  },
})

export const createFolder = route({
  post: ['/folder'],
  operationId: 'createFolder',
  section: 'Folders',
  access: 'user',
  summary: 'Create a folder',
  description: 'Creates a folder without videos.',
  payload: z.strictObject({ organisation_id: organisationIdField(), name, description: description.default('') }),
  synonyms,
  response: z.object({ id: schema.id('folder'), created: schema.id('folder'), data: FolderDataResponse }),
  errorCodes: exists,
  async handle({ payload }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, payload.organisation_id)
    const request = { organisationId, name: payload.name, description: payload.description }
    const folder = required((await services.folders.createFolder(request, call)).folder, 'folder')
    return { id: folder.folderId, created: folder.folderId, data: folderDataResponse(folder) }
  },
})

export const updateFolder = route({
  put: ['/folder/:folderId/update'],
  operationId: 'updateFolder',
  section: 'Folders',
  access: 'user',
  summary: 'Change a folder',
  description: 'Accepts `name`, `description`, or both.',
  params: folderParams,
  payload: z.strictObject({ organisation_id: organisationIdField(), name: name.optional(), description: description.optional() }),
  synonyms,
  record: FolderResponse,
  docs: { example: { organisation_id: '1', name: 'Trailers' } },
  response: z.object({
    updated_data: FolderResponse.meta({ description: 'The folder after the change.' }),
    old_data: FolderResponse.meta({ description: 'The folder before the change.' }),
    updated: schema.id('folder'),
  }),
  errorCodes: exists,
  async handle({ params, payload }, { caller, services, call }) {
    const { organisation_id, ...fields } = payload
    const organisationId = requestedOrganisation(caller, organisation_id)
    const updateMask = Object.keys(fields)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have name or description' }])
    const { name = '', description = '' } = fields
    const folder = Folder.create({ folderId: params.folderId, organisationId, name, description })
    const response = await services.folders.updateFolder({ folder, updateMask }, call)
    const [current, previous] = [required(response.folder, 'folder'), required(response.previous, 'folder before')]
    return { updated_data: folderResponse(current), old_data: folderResponse(previous), updated: current.folderId }
  },
})

export const deleteFolder = route({
  delete: ['/folder/:folderId/delete/:organisationId'],
  operationId: 'deleteFolder',
  aliases: [{ verb: 'put', path: '/folder/:folderId/delete/:organisationId' }],
  section: 'Folders',
  access: 'user',
  summary: 'Delete a folder',
  description: 'Deletes a folder. Its videos are kept.',
  params: z.object({ folderId: id('folder'), organisationId: id('organisation') }),
  response: z.object({ deleted: z.literal(true), old_data: FolderResponse.meta({ description: 'The folder before it was deleted.' }) }),
  async handle({ params }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { folder } = await services.folders.deleteFolder({ folderId: params.folderId, organisationId }, call)
    return { deleted: true as const, old_data: folderResponse(required(folder, 'folder')) }
  },
})

export const listFolderVideos = route({
  get: ['/folder/:folderId/video'],
  operationId: 'listFolderVideoIds',
  section: 'Folders',
  access: 'user',
  summary: 'List the ids of videos in a folder',
  description: 'Returns the ids in the order in which the videos were added.',
  params: folderParams,
  query: z.object(pageQuery),
  response: z.object({ contents: z.array(schema.id('video')), folder_id: schema.id('folder') }),
  async handle({ params: { folderId }, query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
      const { videoIds, nextPageToken } = await services.folders.listFolderVideos({ folderId, ...page }, call)
      return { rows: videoIds, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/folder/${folderId}/video`, { ...query, nextCursor })
    return new Reply({ contents: rows, folder_id: folderId }, { headers })
  },
})

export const addFolderVideo = route({
  post: ['/folder/:folderId/video/:videoId/add'],
  operationId: 'addVideoToFolder',
  section: 'Folders',
  access: 'user',
  summary: 'Add a video to a folder',
  description: 'Adds a video of the folder’s organisation. A video may be in several folders.',
  params: videoParams,
  response: z.object({
    folder_id: schema.id('folder'),
    added: z.array(schema.id('video')).meta({ description: 'The added video. Empty if it was already in the folder.' }),
  }),
  async handle({ params }, { services, call }) {
    const { added } = await services.folders.addFolderVideo(params, call)
    return { folder_id: params.folderId, added: added ? [params.videoId] : [] }
  },
})

export const removeFolderVideo = route({
  delete: ['/folder/:folderId/video/:videoId/delete'],
  operationId: 'removeVideoFromFolder',
  aliases: [{ verb: 'post', path: '/folder/:folderId/video/:videoId/delete' }],
  section: 'Folders',
  access: 'user',
  summary: 'Remove a video from a folder',
  description: 'Removes a video from a folder. The video is kept.',
  params: videoParams,
  response: z.object({ folder_id: schema.id('folder'), removed: z.array(schema.id('video')).meta({ description: 'The removed video.' }) }),
  errorCodes: { folder_video_not_found: 'The folder does not contain the video.' },
  async handle({ params }, { services, call }) {
    await services.folders.removeFolderVideo(params, call)
    return { folder_id: params.folderId, removed: [params.videoId] }
  },
})

export const folderRoutes = [listFolders, createFolder, updateFolder, deleteFolder, listFolderVideos, addFolderVideo, removeFolderVideo]
