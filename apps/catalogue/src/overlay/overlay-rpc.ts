import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireUser, scopeOf, type UserPrincipal } from '@vitascope/principal'
import type { OverlayServiceService } from '@vitascope/proto/catalogue/v1/overlay'
import { isId, pageById } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { findRequestedOrganisation, requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { checkOverlay, mergeOverlay } from './overlay.ts'
import { fromMessage, toMessage } from './overlay-message.ts'
import type { OverlayKey, OverlayStore } from './overlay-store.ts'

const MAX_PAGE_SIZE = 100

export function overlayHandlers(overlays: OverlayStore, organisations: Organisations): Handlers<typeof OverlayServiceService> {
  return {
    async listOverlays(request, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, request.organisationId, signal)
      const { rows, nextPageToken } = await pageById(request, MAX_PAGE_SIZE, {
        read: (place) => overlays.list(organisationId, place, signal),
        idOf: ({ overlayId }) => overlayId,
      })
      return { overlays: rows.map(toMessage), nextPageToken }
    },
    async getOverlay({ overlayId }, { principal, signal }) {
      const overlay = await overlays.find(keyOf(requireUser(principal), overlayId), signal)
      if (!overlay) throw notFound('overlay', overlayId)
      return { overlay: toMessage(overlay) }
    },
    async createOverlay({ overlay: given }, call) {
      const scope = await findRequestedOrganisation(organisations, call.principal, given?.organisationId ?? '', call.signal)
      if (!given) throw invalid([{ field: 'overlay', message: 'is required' }])
      const fields = fromMessage(given)
      checkOverlay(fields)
      if (scope === null && fields.mediaId === '') {
        throw invalid([{ field: 'organisation_id', message: 'is required if no media is given' }])
      }
      return { overlay: toMessage(await overlays.create(scope, fields, call)) }
    },
    async updateOverlay({ overlay: given, updateMask = [] }, { principal, signal }) {
      const key = keyOf(requireUser(principal), given?.shown?.overlayId ?? '')
      if (!given) throw notFound('overlay', '')
      const fields = fromMessage(given)
      const target = updateMask.includes('media_id') && isId(fields.mediaId) ? fields.mediaId : ''
      const updated =
        updateMask.length === 0
          ? await overlays.find(key, signal)
          : await overlays.update(key, target, (now) => mergeOverlay(now, fields, updateMask), signal)
      if (!updated) throw notFound('overlay', key.overlayId)
      return { overlay: toMessage(updated) }
    },
    async deleteOverlay({ overlayId }, { principal, signal }) {
      await overlays.remove(keyOf(requireUser(principal), overlayId), signal)
      return {}
    },
  }
}

function keyOf(user: UserPrincipal, overlayId: string): OverlayKey {
  if (!isId(overlayId)) throw notFound('overlay', overlayId)
  return { scope: scopeOf(user), overlayId }
}
