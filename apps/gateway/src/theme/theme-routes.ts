import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { id, organisationIdField } from '../fields.ts'
import { namedOrganisation, requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { ThemeRecord, themeChanges, themeValues, themeView } from './theme-record.ts'

const section = 'Themes'

export const getTheme = route({
  get: ['/theme/:id'],
  section,
  access: 'user',
  summary: 'Read a theme',
  params: z.object({ id: id('theme') }),
  answer: ThemeRecord,
  async handle({ params }, { services, call }) {
    const { theme } = await services.themes.getTheme({ themeId: params.id }, call)
    return themeView(given(theme, 'theme'))
  },
})

export const listThemes = route({
  get: ['/theme'],
  section,
  access: 'user',
  summary: 'List the themes of an organisation',
  description: 'A user’s own; a system key names the organisation.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  answer: z.array(ThemeRecord),
  async handle({ query: { organisation_id, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
      const { themes, nextPageToken } = await services.themes.listThemes({ organisationId, ...page }, call)
      return { rows: themes, nextPageToken }
    })
    const headers = nextLink(publicUrl, '/theme', { ...query, more, query: { organisation_id: organisationId } })
    return new Reply(rows.map(themeView), { headers })
  },
})

export const listThemeVideos = route({
  get: ['/theme/:id/videos'],
  section,
  access: 'user',
  summary: 'List the videos that name a theme',
  params: z.object({ id: id('theme') }),
  query: z.object(pageQuery),
  answer: z.array(z.object({ video_id: shown.id('video'), title: shown.text('Its title.', 'Launch day') })),
  async handle({ params, query }, { services, call, publicUrl }) {
    const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
      const { videos, nextPageToken } = await services.themes.listThemeVideos({ themeId: params.id, ...page }, call)
      return { rows: videos, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/theme/${params.id}/videos`, { ...query, more })
    return new Reply(
      rows.map(({ videoId, title }) => ({ video_id: videoId, title })),
      { headers },
    )
  },
})

export const createTheme = route({
  post: ['/theme/:organisationId'],
  section,
  access: 'user',
  summary: 'Create a theme',
  params: z.object({ organisationId: id('organisation') }),
  payload: themeChanges,
  payloadOptional: true,
  status: 201,
  answer: z.object({ status: z.literal('Created'), message: z.object({ created: shown.id('theme') }) }),
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { theme } = await services.themes.createTheme({ organisationId, theme: themeValues('', payload) }, call)
    return { status: 'Created' as const, message: { created: given(theme, 'theme').themeId } }
  },
})

export const updateTheme = route({
  put: ['/theme/:themeId'],
  section,
  access: 'user',
  summary: 'Change a theme',
  description: 'Takes any of the fields; those left out stay as they are.',
  params: z.object({ themeId: id('theme') }),
  payload: themeChanges,
  answer: z.object({ status: z.literal('OK'), message: z.object({ updated: shown.id('theme') }) }),
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    await services.themes.updateTheme({ theme: themeValues(params.themeId, payload), updateMask }, call)
    return { status: 'OK' as const, message: { updated: params.themeId } }
  },
})

export const deleteTheme = route({
  delete: ['/theme/:themeId'],
  section,
  access: 'user',
  summary: 'Delete a theme',
  description: 'Its videos have the default theme of their organisation then. The default theme itself is not deleted.',
  params: z.object({ themeId: id('theme') }),
  answer: z.object({ status: z.literal('OK'), message: z.object({ deleted: shown.id('theme') }) }),
  refusals: { theme_in_use: 'it is the default of its organisation: give that another one first' },
  async handle({ params }, { services, call }) {
    await services.themes.deleteTheme({ themeId: params.themeId }, call)
    return { status: 'OK' as const, message: { deleted: params.themeId } }
  },
})

export const themeRoutes = [getTheme, listThemes, listThemeVideos, createTheme, updateTheme, deleteTheme]
