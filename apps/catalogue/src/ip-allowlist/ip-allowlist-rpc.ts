import { invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireSystemUser } from '@vitascope/principal'
import type { SecurityServiceService } from '@vitascope/proto/catalogue/v1/security'
import { isId } from '@vitascope/request'
import { normaliseAddress } from '@vitascope/security'
import { checkAddress, type FindAllowedIps } from './address-check.ts'

const MAX_IDS = 1_000

export function ipAllowlistHandlers(find: FindAllowedIps): Handlers<typeof SecurityServiceService> {
  return {
    async checkAddress({ address, videoIds }, { principal, signal }) {
      requireSystemUser(principal)
      const normalAddress = normaliseAddress(address)
      const problems = [
        ...(normalAddress === undefined ? [{ field: 'address', message: 'must be an IPv4 or IPv6 address' }] : []),
        ...(videoIds.length > MAX_IDS ? [{ field: 'video_ids', message: `must be at most ${MAX_IDS} ids` }] : []),
      ]
      if (normalAddress === undefined || problems.length > 0) throw invalid(problems)
      const distinctIds = [...new Set(videoIds)]
      const findRules = (ids: readonly string[]) => find(ids.filter(isId), signal)
      return checkAddress(findRules, { address: normalAddress, videoIds: distinctIds }, signal)
    },
  }
}
