import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, organisationIdField } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation, requiredOrganisation } from '../shared/resolve-organisation.ts'
import { ThemeResponse, themeChanges, themeResponse, themeValues } from './theme-response.ts'

const section = 'Themes'

export const getTheme = route({
  get: ['/theme/:id'],
  operationId: 'getTheme',
  section,
  access: 'user',
  summary: 'Read a theme',
  description: 'Returns the colours and the skin of a theme.',
  params: z.object({ id: id('theme') }),
  response: ThemeResponse,
  async handle({ params }, { services, call }) {
    const { theme } = await services.themes.getTheme({ themeId: params.id }, call)
    const found = required(theme, 'theme')
    return new Reply(themeResponse(found), { updateTime: found.updateTime })
  },
})

export const listThemes = route({
  get: ['/theme'],
  operationId: 'listThemes',
  section,
  access: 'user',
  summary: 'List the themes of an organisation',
  description: 'Returns the themes of the user’s own organisation. A system key selects the organisation.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  response: z.array(ThemeResponse),
  async handle({ query: { organisation_id, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
      const { themes, nextPageToken } = await services.themes.listThemes({ organisationId, ...page }, call)
      return { rows: themes, nextPageToken }
    })
    const headers = nextLink(publicUrl, '/theme', { ...query, nextCursor, query: { organisation_id: organisationId } })
    return new Reply(rows.map(themeResponse), { headers })
  },
})

export const listThemeVideos = route({
  get: ['/theme/:id/videos'],
  operationId: 'listThemeVideos',
  section,
  access: 'user',
  summary: 'List the videos with a theme',
  description: 'Returns the videos that have this theme set. Videos that use it as the default of their organisation are not listed.',
  params: z.object({ id: id('theme') }),
  query: z.object(pageQuery),
  response: z.array(z.object({ video_id: schema.id('video'), title: schema.text('Title of the video.', 'Launch day') })),
  async handle({ params, query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
      const { videos, nextPageToken } = await services.themes.listThemeVideos({ themeId: params.id, ...page }, call)
      return { rows: videos, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/theme/${params.id}/videos`, { ...query, nextCursor })
    return new Reply(
      rows.map(({ videoId, title }) => ({ video_id: videoId, title })),
      { headers },
    )
  },
})

export const createTheme = route({
  post: ['/theme/:organisationId'],
  operationId: 'createTheme',
  section,
  access: 'user',
  summary: 'Create a theme',
  description: 'Creates a theme. Omitted colours are those of the player.',
  params: z.object({ organisationId: id('organisation') }),
  payload: themeChanges,
  payloadOptional: true,
  status: 201,
  docs: { example: { title: 'Dark', background_colour: '#1f2933', text_colour: '#ffffff' } },
  response: z.object({ id: schema.id('theme'), status: z.literal('Created'), message: z.object({ created: schema.id('theme') }) }),
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const created = await services.themes.createTheme({ organisationId, theme: themeValues('', payload) }, call)
    const { themeId } = required(created.theme, 'theme')
    return { id: themeId, status: 'Created' as const, message: { created: themeId } }
  },
})

export const updateTheme = route({
  put: ['/theme/:themeId'],
  operationId: 'updateTheme',
  section,
  access: 'user',
  summary: 'Change a theme',
  description: 'Changes only the fields that are sent.',
  params: z.object({ themeId: id('theme') }),
  payload: themeChanges,
  record: ThemeResponse,
  isConditional: true,
  docs: { example: { title: 'Dark', background_colour: '#1f2933' } },
  response: z.object({ status: z.literal('OK'), message: z.object({ updated: schema.id('theme') }) }),
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    await services.themes.updateTheme({ theme: themeValues(params.themeId, payload), updateMask }, call)
    return { status: 'OK' as const, message: { updated: params.themeId } }
  },
})

export const deleteTheme = route({
  delete: ['/theme/:themeId'],
  operationId: 'deleteTheme',
  section,
  access: 'user',
  summary: 'Delete a theme',
  description: 'Deletes a theme. Its videos then have the default theme of their organisation. The default theme itself cannot be deleted.',
  params: z.object({ themeId: id('theme') }),
  response: z.object({ status: z.literal('OK'), message: z.object({ deleted: schema.id('theme') }) }),
  errorCodes: { theme_in_use: 'The theme is the default of its organisation. Set another default first.' },
  async handle({ params }, { services, call }) {
    await services.themes.deleteTheme({ themeId: params.themeId }, call)
    return { status: 'OK' as const, message: { deleted: params.themeId } }
  },
})

export const themeRoutes = [getTheme, listThemes, listThemeVideos, createTheme, updateTheme, deleteTheme]
