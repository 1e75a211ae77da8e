import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { id, list, oneOf, organisationIdField, tag } from '../fields.ts'
import { requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { Reply, route } from '../route.ts'
import { tagsInPath, wantedTags } from './tag-names.ts'

/** Of a video, and so of a call. */
const MOST = 100
const PART = 1_000

const ofOrganisation = organisationIdField({ description: 'Whose; required with a system key, else your own.' }).optional()

export const listTags = route({
  get: ['/tag'],
  section: 'Tags',
  access: 'user',
  summary: 'List tags with the number of videos that have each',
  description: 'Most used first; those used equally often in the order of their characters. Tags that differ in case are different ones.',
  query: z.object({ organisation_id: ofOrganisation, ...pageQuery }),
  answer: z.array(z.object({ tag: shown.text('As written.', 'launch'), count: shown.int('Videos that have it.', 42) })),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const { organisation_id } = query
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, more } = await collectRows({ ...query, part: PART }, async (page) => {
      const { tags, nextPageToken } = await services.tags.listTags({ organisationId, ...page }, call)
      return { rows: tags, nextPageToken }
    })
    return new Reply(
      rows.map(({ tag, videos }) => ({ tag, count: videos })),
      { headers: nextLink(publicUrl, '/tag', { ...query, more, query: { organisation_id } }) },
    )
  },
})

export const listVideoTags = route({
  get: ['/tag/video/:videoId'],
  section: 'Tags',
  access: 'user',
  summary: 'Read the tags of a video',
  params: z.object({ videoId: id('video') }),
  answer: z.array(z.string()).meta({ example: ['launch'] }),
  async handle({ params }, { services, call }) {
    return given((await services.videos.getVideo({ videoId: params.videoId }, call)).video, 'video').tags
  },
})

export const addTags = route({
  post: ['/tag/video/add/:videoId{/:tags}'],
  section: 'Tags',
  access: 'user',
  summary: 'Add tags to a video',
  description: 'The tags stand in the path or in the payload. A video has at most 100.',
  params: z.object({ videoId: id('video'), tags: tagsInPath(MOST).optional() }),
  payload: z.strictObject({ tags: list(tag(), { max: MOST }, { description: 'Where the path has none.' }).optional() }),
  payloadOptional: true,
  answer: z.object({ added: z.array(z.string()).meta({ description: 'Those that the video did not have.', example: ['launch'] }) }),
  refusals: { tags_full: 'the video would have more than 100 tags' },
  async handle({ params, payload }, { services, call }) {
    const both = params.tags !== undefined && payload.tags !== undefined
    const tags = params.tags ?? payload.tags
    if (both || tags === undefined) {
      throw invalid([{ field: 'tags', message: both ? 'must stand in the path or in the payload, not in both' : 'is required' }])
    }
    const { added } = await services.tags.addTags({ videoId: params.videoId, tags }, call)
    return { added }
  },
})

export const deleteTags = route({
  delete: ['/tag/video/delete/:videoId/:tags'],
  section: 'Tags',
  access: 'user',
  summary: 'Delete tags of a video',
  params: z.object({ videoId: id('video'), tags: tagsInPath(MOST) }),
  answer: z.object({ deleted: z.array(z.string()).meta({ description: 'Those that the video had.', example: ['launch'] }) }),
  async handle({ params }, { services, call }) {
    const { deleted } = await services.tags.deleteTags({ videoId: params.videoId, tags: params.tags }, call)
    return { deleted }
  },
})

export const listTaggedVideos = route({
  get: ['/video/tag/:tag'],
  section: 'Videos',
  access: 'user',
  summary: 'List the ids of videos by tags',
  description: 'Oldest first. With several tags a video must have all of them; with `match=any` one is enough.',
  params: z.object({ tag: wantedTags(20) }),
  query: z.object({
    match: oneOf(['all', 'any'], { description: 'Whether all of several tags must be there, or any.' }).default('all'),
    organisation_id: ofOrganisation,
    ...pageQuery,
  }),
  answer: z.array(shown.id('video')),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const { match, organisation_id } = query
    const organisationId = requiredOrganisation(caller, organisation_id)
    const wanted = { organisationId, tags: params.tag, any: match === 'any' }
    const { rows, more } = await collectRows({ ...query, part: PART }, async (page) => {
      const { videoIds, nextPageToken } = await withPublicNames(
        { tags: 'tag' },
        services.tags.listTaggedVideos({ ...wanted, ...page }, call),
      )
      return { rows: videoIds, nextPageToken }
    })
    const path = `/video/tag/${encodeURIComponent(JSON.stringify({ tags: params.tag }))}`
    return new Reply(rows, { headers: nextLink(publicUrl, path, { ...query, more, query: { match, organisation_id } }) })
  },
})

export const tagRoutes = [listTags, listVideoTags, addTags, deleteTags, listTaggedVideos]
