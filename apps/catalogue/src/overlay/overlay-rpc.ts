import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireUser, type UserPrincipal } from '@vitascope/principal'
import type { OverlayServiceService } from '@vitascope/proto/catalogue/v1/overlay'
import { isId, pageById, requireUnchanged } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { findRequestedOrganisation, requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { checkOverlay, mergeOverlay, type Overlay } from './overlay.ts'
import { fromMessage, toMessage } from './overlay-message.ts'
import type { OverlayKey, OverlayStore } from './overlay-store.ts'

const MAX_PAGE_SIZE = 100

export function overlayHandlers(overlays: OverlayStore, organisations: Organisations): Handlers<typeof OverlayServiceService> {
  return {
    async listOverlays(request, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, request.organisationId, signal)
      const { rows, nextPageToken } = await pageById(request, MAX_PAGE_SIZE, {
        read: (position) => overlays.list(organisationId, position, signal),
        getId: ({ overlayId }) => overlayId,
      })
      return { overlays: rows.map(toMessage), nextPageToken }
    },
    async getOverlay({ overlayId }, { principal, signal }) {
      const overlay = await overlays.find(toKey(requireUser(principal), overlayId), signal)
      if (!overlay) throw notFound('overlay', overlayId)
      return { overlay: toMessage(overlay) }
    },
    async createOverlay({ overlay: input }, call) {
      const scope = await findRequestedOrganisation(organisations, call.principal, input?.organisationId ?? '', call.signal)
      if (!input) throw invalid([{ field: 'overlay', message: 'is required' }])
      const fields = fromMessage(input)
      checkOverlay(fields)
      if (scope === null && fields.mediaId === '') {
        throw invalid([{ field: 'organisation_id', message: 'is required if no media is given' }])
      }
      return { overlay: toMessage(await overlays.create(scope, fields, call)) }
    },
    async updateOverlay({ overlay: input, updateMask = [] }, call) {
      const { principal, signal } = call
      const key = toKey(requireUser(principal), input?.shown?.overlayId ?? '')
      if (!input) throw notFound('overlay', '')
      const fields = fromMessage(input)
      const newMediaId = updateMask.includes('media_id') && isId(fields.mediaId) ? fields.mediaId : ''
      const change = (current: Overlay) => {
        requireUnchanged(call, current.updateTime)
        return mergeOverlay(current, fields, updateMask)
      }
      const updated = updateMask.length === 0 ? await overlays.find(key, signal) : await overlays.update(key, newMediaId, change, signal)
      if (!updated) throw notFound('overlay', key.overlayId)
      return { overlay: toMessage(updated) }
    },
    async deleteOverlay({ overlayId }, { principal, signal }) {
      await overlays.remove(toKey(requireUser(principal), overlayId), signal)
      return {}
    },
  }
}

function toKey(user: UserPrincipal, overlayId: string): OverlayKey {
  if (!isId(overlayId)) throw notFound('overlay', overlayId)
  return { scope: getScope(user), overlayId }
}
