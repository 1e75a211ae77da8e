import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, organisationIdField } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required } from '../../server/schema/response-format.ts'
import { requestedOrganisation, requiredOrganisation } from '../shared/resolve-organisation.ts'
import { newOverlay, overlayChanges, overlayMask, overlayMessage, publicOverlayNames } from './overlay-changes.ts'
import { OverlayResponse, overlayResponse } from './overlay-response.ts'

const overlayId = z.object({ id: id('overlay') })
const full = { overlays_full: 'The media already has 25 overlays.' }

export const listOverlays = route({
  get: ['/overlay'],
  operationId: 'listOverlays',
  section: 'Overlays',
  access: 'user',
  summary: 'List the overlays of an organisation',
  description: 'Returns the overlays that are not disabled, oldest first. A system key selects the organisation. Other keys see their own.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  response: z.record(z.string(), OverlayResponse).meta({ description: 'Overlays by their index in the list, starting at `"0"`.' }),
  async handle({ query: { organisation_id, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { overlays, nextPageToken } = await services.overlays.listOverlays({ organisationId, ...page }, call)
      return { rows: overlays, nextPageToken }
    })
    const body = Object.fromEntries(rows.map((overlay, index) => [String(query.start - 1 + index), overlayResponse(overlay)]))
    const headers = nextLink(publicUrl, '/overlay', { ...query, nextCursor, query: { organisation_id: organisationId } })
    return new Reply(body, { headers })
  },
})

export const getOverlay = route({
  get: ['/overlay/:id'],
  operationId: 'getOverlay',
  section: 'Overlays',
  access: 'user',
  summary: 'Read an overlay',
  description: 'Returns an overlay, also if it is disabled.',
  params: overlayId,
  response: OverlayResponse,
  async handle({ params }, { services, call }) {
    const { overlay } = await services.overlays.getOverlay({ overlayId: params.id }, call)
    const found = required(overlay, 'overlay')
    return new Reply(overlayResponse(found), { updateTime: found.updateTime })
  },
})

export const createOverlay = route({
  post: ['/overlay'],
  operationId: 'createOverlay',
  section: 'Overlays',
  access: 'user',
  summary: 'Create an overlay',
  description:
    'Creates an overlay. An overlay with a media belongs to the organisation of that media. An overlay without a media belongs to `organisation_id`, or ' +
    'to the organisation of the caller.',
  payload: newOverlay,
  publicNames: publicOverlayNames,
  status: 201,
  docs: { example: { organisation_id: '1', title: 'Tickets', link_text: 'Buy tickets', link_url: 'https://tickets.example.org/' } },
  response: OverlayResponse,
  errorCodes: full,
  async handle({ payload: { organisation_id, ...payload } }, { caller, services, call }) {
    const organisationId = organisation_id === undefined ? '' : requestedOrganisation(caller, organisation_id)
    const request = { overlay: overlayMessage(payload, { organisationId }) }
    const { overlay } = await services.overlays.createOverlay(request, call)
    return overlayResponse(required(overlay, 'overlay'))
  },
})

export const updateOverlay = route({
  put: ['/overlay/:id'],
  operationId: 'updateOverlay',
  section: 'Overlays',
  access: 'user',
  summary: 'Change an overlay',
  description: 'Changes only the fields that are sent. This also applies to each field of `show`.',
  params: overlayId,
  payload: overlayChanges,
  record: OverlayResponse,
  isConditional: true,
  publicNames: publicOverlayNames,
  docs: { example: { title: 'Tickets' } },
  response: OverlayResponse,
  errorCodes: full,
  async handle({ params, payload }, { services, call }) {
    const updateMask = overlayMask(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const request = { overlay: overlayMessage(payload, { overlayId: params.id }), updateMask }
    const { overlay } = await services.overlays.updateOverlay(request, call)
    return overlayResponse(required(overlay, 'overlay'))
  },
})

export const deleteOverlay = route({
  delete: ['/overlay/:id'],
  operationId: 'deleteOverlay',
  section: 'Overlays',
  access: 'user',
  summary: 'Delete an overlay',
  description: 'Deletes an overlay permanently.',
  params: overlayId,
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.overlays.deleteOverlay({ overlayId: params.id }, call)
    return { deleted: true as const }
  },
})

export const overlayRoutes = [listOverlays, getOverlay, createOverlay, updateOverlay, deleteOverlay]
