import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, list, oneOf, organisationIdField, tag } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requiredOrganisation } from '../shared/resolve-organisation.ts'
import { requestedTags, tagsInPath } from './tag-names.ts'

/** Tags per video, and so per call. */
const MAX_TAGS = 100
const MAX_PAGE_SIZE = 1_000

const organisationId = organisationIdField({
  description: 'Id of the organisation. Required with a system key. The default is the organisation of the key.',
}).optional()

export const listTags = route({
  get: ['/tag'],
  operationId: 'listTags',
  section: 'Tags',
  access: 'user',
  summary: 'List tags with their video counts',
  description:
    'Returns the most used tags first. Tags with equal counts are sorted by their characters. Tags that differ in case are different tags.',
  query: z.object({ organisation_id: organisationId, ...pageQuery }),
  response: z.array(
    z.object({ tag: schema.text('Tag as it was written.', 'launch'), count: schema.int('Number of videos with the tag.', 42) }),
  ),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const { organisation_id } = query
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: MAX_PAGE_SIZE }, async (page) => {
      const { tags, nextPageToken } = await services.tags.listTags({ organisationId, ...page }, call)
      return { rows: tags, nextPageToken }
    })
    return new Reply(
      rows.map(({ tag, videos }) => ({ tag, count: videos })),
      { headers: nextLink(publicUrl, '/tag', { ...query, nextCursor, query: { organisation_id } }) },
    )
  },
})

export const listVideoTags = route({
  get: ['/tag/video/:videoId'],
  operationId: 'listVideoTags',
  section: 'Tags',
  access: 'user',
  summary: 'Read the tags of a video',
  description: 'Returns all tags of a video.',
  params: z.object({ videoId: id('video') }),
  response: z.array(z.string()).meta({ example: ['launch'] }),
  async handle({ params }, { services, call }) {
    return required((await services.videos.getVideo({ videoId: params.videoId }, call)).video, 'video').tags
  },
})

export const addTags = route({
  post: ['/tag/video/add/:videoId{/:tags}'],
  operationId: 'addVideoTags',
  section: 'Tags',
  access: 'user',
  summary: 'Add tags to a video',
  description: 'Adds tags to a video. Accepts the tags in the path or in the payload. A video has at most 100 tags.',
  params: z.object({ videoId: id('video'), tags: tagsInPath(MAX_TAGS).optional() }),
  payload: z.strictObject({ tags: list(tag(), { max: MAX_TAGS }, { description: 'Tags, if the path has none.' }).optional() }),
  payloadOptional: true,
  docs: { example: { tags: ['launch', 'summer-2030'] } },
  response: z.object({ added: z.array(z.string()).meta({ description: 'Tags that the video did not have before.', example: ['launch'] }) }),
  errorCodes: { tags_full: 'The video would have more than 100 tags.' },
  async handle({ params, payload }, { services, call }) {
    const hasBoth = params.tags !== undefined && payload.tags !== undefined
    const tags = params.tags ?? payload.tags
    if (hasBoth || tags === undefined) {
      throw invalid([{ field: 'tags', message: hasBoth ? 'must be in the path or in the payload, not in both' : 'is required' }])
    }
    const { added } = await services.tags.addTags({ videoId: params.videoId, tags }, call)
    return { added }
  },
})

export const deleteTags = route({
  delete: ['/tag/video/delete/:videoId/:tags'],
  operationId: 'removeVideoTags',
  section: 'Tags',
  access: 'user',
  summary: 'Delete tags from a video',
  description: 'Removes tags from a video. Tags that the video does not have are ignored.',
  params: z.object({ videoId: id('video'), tags: tagsInPath(MAX_TAGS) }),
  response: z.object({ deleted: z.array(z.string()).meta({ description: 'Tags that were removed.', example: ['launch'] }) }),
  async handle({ params }, { services, call }) {
    const { deleted } = await services.tags.deleteTags({ videoId: params.videoId, tags: params.tags }, call)
    return { deleted }
  },
})

export const listTaggedVideos = route({
  get: ['/video/tag/:tag'],
  operationId: 'listVideoIdsByTag',
  section: 'Videos',
  access: 'user',
  summary: 'List the ids of videos by tags',
  description:
    'Returns ids of videos that have the tags, oldest first. With several tags, a video must have all of them. With `match=any`, one tag is enough.',
  params: z.object({ tag: requestedTags(20) }),
  query: z.object({
    match: oneOf(['all', 'any'], { description: '`all` requires all tags. `any` requires one of them.' }).default('all'),
    organisation_id: organisationId,
    ...pageQuery,
  }),
  response: z.array(schema.id('video')),
  publicNames: { tags: 'tag' },
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const { match, organisation_id } = query
    const organisationId = requiredOrganisation(caller, organisation_id)
    const filter = { organisationId, tags: params.tag, any: match === 'any' }
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: MAX_PAGE_SIZE }, async (page) => {
      const { videoIds, nextPageToken } = await services.tags.listTaggedVideos({ ...filter, ...page }, call)
      return { rows: videoIds, nextPageToken }
    })
    const path = `/video/tag/${encodeURIComponent(JSON.stringify({ tags: params.tag }))}`
    return new Reply(rows, { headers: nextLink(publicUrl, path, { ...query, nextCursor, query: { match, organisation_id } }) })
  },
})

export const tagRoutes = [listTags, listVideoTags, addTags, deleteTags, listTaggedVideos]
