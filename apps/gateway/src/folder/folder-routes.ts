import { invalid } from '@vitascope/errors'
import { Folder } from '@vitascope/proto/catalogue/v1/folder'
import { z } from 'zod'
import { id, organisationIdField, text } from '../fields.ts'
import { namedOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { FolderData, FolderRecord, folderDataView, folderView } from './folder-view.ts'

const name = text(255, { min: 1 }, { description: 'Unique in its organisation.', example: 'Trailers' })
const description = text(5_000, {}, { description: 'Free text.' })
const exists = { folder_exists: 'the organisation has a folder of this name' }
const ofFolder = z.object({ folderId: id('folder') })
const ofVideo = z.object({ folderId: id('folder'), videoId: id('video') })

export const listFolders = route({
  get: ['/folder/:organisationId'],
  section: 'Folders',
  access: 'user',
  summary: 'List the folders of an organisation',
  description: 'One object with the folders by their ids; `[{}]` when there are none.',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  answer: z.array(z.record(z.string(), FolderRecord)),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { rows, more } = await collectRows({ ...query, part: 100 }, async (page) => {
      const { folders, nextPageToken } = await services.folders.listFolders({ organisationId, ...page }, call)
      return { rows: folders, nextPageToken }
    })
    const folders = Object.fromEntries(rows.map((folder) => [folder.folderId, folderView(folder)]))
    return new Reply([folders], { headers: nextLink(publicUrl, `/folder/${organisationId}`, { ...query, more }) })
  },
})

export const createFolder = route({
  post: ['/folder'],
  section: 'Folders',
  access: 'user',
  summary: 'Create a folder',
  payload: z.strictObject({ organisation_id: organisationIdField(), name, description: description.default('') }),
  answer: z.object({ created: shown.id('folder'), data: FolderData }),
  refusals: exists,
  async handle({ payload }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, payload.organisation_id)
    const request = { organisationId, name: payload.name, description: payload.description }
    const folder = given((await services.folders.createFolder(request, call)).folder, 'folder')
    return { created: folder.folderId, data: folderDataView(folder) }
  },
})

export const updateFolder = route({
  put: ['/folder/:folderId/update'],
  section: 'Folders',
  access: 'user',
  summary: 'Change a folder',
  description: 'Takes `name`, `description`, or both.',
  params: ofFolder,
  payload: z.strictObject({ organisation_id: organisationIdField(), name: name.optional(), description: description.optional() }),
  answer: z.object({
    updated_data: FolderRecord.meta({ description: 'The folder as it is now.' }),
    old_data: FolderRecord.meta({ description: 'The folder as it was.' }),
    updated: shown.id('folder'),
  }),
  refusals: exists,
  async handle({ params, payload }, { caller, services, call }) {
    const { organisation_id, ...fields } = payload
    const organisationId = namedOrganisation(caller, organisation_id)
    const updateMask = Object.keys(fields)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have name or description' }])
    const { name = '', description = '' } = fields
    const folder = Folder.create({ folderId: params.folderId, organisationId, name, description })
    const answer = await services.folders.updateFolder({ folder, updateMask }, call)
    const [now, before] = [given(answer.folder, 'folder'), given(answer.previous, 'folder before')]
    return { updated_data: folderView(now), old_data: folderView(before), updated: now.folderId }
  },
})

export const deleteFolder = route({
  delete: ['/folder/:folderId/delete/:organisationId'],
  aliases: [{ verb: 'put', path: '/folder/:folderId/delete/:organisationId' }],
  section: 'Folders',
  access: 'user',
  summary: 'Delete a folder',
  description: 'Its videos stay.',
  params: z.object({ folderId: id('folder'), organisationId: id('organisation') }),
  answer: z.object({ deleted: z.literal(true), old_data: FolderRecord.meta({ description: 'The folder as it was.' }) }),
  async handle({ params }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { folder } = await services.folders.deleteFolder({ folderId: params.folderId, organisationId }, call)
    return { deleted: true as const, old_data: folderView(given(folder, 'folder')) }
  },
})

export const listFolderVideos = route({
  get: ['/folder/:folderId/video'],
  section: 'Folders',
  access: 'user',
  summary: 'List the ids of the videos in a folder',
  description: 'In the order in which they were put in.',
  params: ofFolder,
  query: z.object(pageQuery),
  answer: z.object({ contents: z.array(shown.id('video')), folder_id: shown.id('folder') }),
  async handle({ params: { folderId }, query }, { services, call, publicUrl }) {
    const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
      const { videoIds, nextPageToken } = await services.folders.listFolderVideos({ folderId, ...page }, call)
      return { rows: videoIds, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/folder/${folderId}/video`, { ...query, more })
    return new Reply({ contents: rows, folder_id: folderId }, { headers })
  },
})

export const addFolderVideo = route({
  post: ['/folder/:folderId/video/:videoId/add'],
  section: 'Folders',
  access: 'user',
  summary: 'Put a video into a folder',
  description: 'A video of the folder’s organisation; it may lie in several folders.',
  params: ofVideo,
  answer: z.object({
    folder_id: shown.id('folder'),
    added: z.array(shown.id('video')).meta({ description: 'The video; empty when it lay there already.' }),
  }),
  async handle({ params }, { services, call }) {
    const { added } = await services.folders.addFolderVideo(params, call)
    return { folder_id: params.folderId, added: added ? [params.videoId] : [] }
  },
})

export const removeFolderVideo = route({
  delete: ['/folder/:folderId/video/:videoId/delete'],
  aliases: [{ verb: 'post', path: '/folder/:folderId/video/:videoId/delete' }],
  section: 'Folders',
  access: 'user',
  summary: 'Take a video out of a folder',
  params: ofVideo,
  answer: z.object({ folder_id: shown.id('folder'), removed: z.array(shown.id('video')).meta({ description: 'The video.' }) }),
  refusals: { folder_video_not_found: 'the folder does not hold it' },
  async handle({ params }, { services, call }) {
    await services.folders.removeFolderVideo(params, call)
    return { folder_id: params.folderId, removed: [params.videoId] }
  },
})

export const folderRoutes = [listFolders, createFolder, updateFolder, deleteFolder, listFolderVideos, addFolderVideo, removeFolderVideo]
