import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { id, organisationIdField } from '../fields.ts'
import { namedOrganisation, requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { Reply, route } from '../route.ts'
import { newOverlay, overlayChanges, overlayMask, overlayMessage, publicOverlayNames } from './overlay-changes.ts'
import { OverlayRecord, overlayView } from './overlay-view.ts'

const overlayId = z.object({ id: id('overlay') })
const full = { overlays_full: 'the media has 25 overlays already' }

export const listOverlays = route({
  get: ['/overlay'],
  section: 'Overlays',
  access: 'user',
  summary: 'List the overlays of an organisation',
  description: 'Without disabled ones, oldest first. A user’s own organisation’s; a system key names one.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  answer: z.record(z.string(), OverlayRecord).meta({ description: 'Overlays by their place in the list, from `"0"`.' }),
  async handle({ query: { organisation_id, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, more } = await collectRows({ ...query, part: 100 }, async (page) => {
      const { overlays, nextPageToken } = await services.overlays.listOverlays({ organisationId, ...page }, call)
      return { rows: overlays, nextPageToken }
    })
    const body = Object.fromEntries(rows.map((overlay, index) => [String(query.start - 1 + index), overlayView(overlay)]))
    const headers = nextLink(publicUrl, '/overlay', { ...query, more, query: { organisation_id: organisationId } })
    return new Reply(body, { headers })
  },
})

export const getOverlay = route({
  get: ['/overlay/:id'],
  section: 'Overlays',
  access: 'user',
  summary: 'Read an overlay',
  params: overlayId,
  answer: OverlayRecord,
  async handle({ params }, { services, call }) {
    const { overlay } = await services.overlays.getOverlay({ overlayId: params.id }, call)
    return overlayView(given(overlay, 'overlay'))
  },
})

export const createOverlay = route({
  post: ['/overlay'],
  section: 'Added',
  access: 'user',
  summary: 'Create an overlay',
  description: 'It belongs to the organisation of the media that it names; one that names none, to the caller’s or to `organisation_id`.',
  payload: newOverlay,
  status: 201,
  answer: OverlayRecord,
  refusals: full,
  async handle({ payload: { organisation_id, ...payload } }, { caller, services, call }) {
    const organisationId = organisation_id === undefined ? '' : namedOrganisation(caller, organisation_id)
    const request = { overlay: overlayMessage(payload, { organisationId }) }
    const { overlay } = await withPublicNames(publicOverlayNames, services.overlays.createOverlay(request, call))
    return overlayView(given(overlay, 'overlay'))
  },
})

export const updateOverlay = route({
  put: ['/overlay/:id'],
  section: 'Added',
  access: 'user',
  summary: 'Change an overlay',
  description: 'Takes any of the fields; those left out stay as they are, of `show` each for itself.',
  params: overlayId,
  payload: overlayChanges,
  answer: OverlayRecord,
  refusals: full,
  async handle({ params, payload }, { services, call }) {
    const updateMask = overlayMask(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const request = { overlay: overlayMessage(payload, { overlayId: params.id }), updateMask }
    const { overlay } = await withPublicNames(publicOverlayNames, services.overlays.updateOverlay(request, call))
    return overlayView(given(overlay, 'overlay'))
  },
})

export const deleteOverlay = route({
  delete: ['/overlay/:id'],
  section: 'Added',
  access: 'user',
  summary: 'Delete an overlay',
  params: overlayId,
  answer: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.overlays.deleteOverlay({ overlayId: params.id }, call)
    return { deleted: true as const }
  },
})

export const overlayRoutes = [listOverlays, getOverlay, createOverlay, updateOverlay, deleteOverlay]
