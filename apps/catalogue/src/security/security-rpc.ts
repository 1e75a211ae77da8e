import { normaliseAddress } from '@vitascope/access'
import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { SecurityServiceService } from '@vitascope/proto/catalogue/v1/security'
import { parseId } from '../id/id.ts'
import { requireSystem } from '../visibility.ts'
import { checkAddress, type FindAllowedIps } from './address-check.ts'

const MOST = 1_000

export function securityHandlers(find: FindAllowedIps): Handlers<typeof SecurityServiceService> {
  return {
    async checkAddress({ address, videoIds }, { principal, signal }) {
      requireSystem(principal)
      const normal = normaliseAddress(address)
      const problems = [
        ...(normal === undefined ? [{ field: 'ip_address', message: 'must be an IPv4 or IPv6 address' }] : []),
        ...(videoIds.length > MOST ? [{ field: 'object_ids', message: `must be at most ${MOST} ids` }] : []),
      ]
      if (normal === undefined || problems.length > 0) throw invalid(problems)
      const distinct = [...new Set(videoIds)]
      const known = (ids: readonly string[]) =>
        find(
          ids.filter((id) => parseId(id) !== undefined),
          signal,
        )
      return checkAddress(known, { address: normal, videoIds: distinct }, signal)
    },
  }
}
