import type { Handlers } from '@vitascope/grpc'
import { type Db, type FailoverCause, listFailovers } from '@vitascope/postgres'
import { requireSystemUser } from '@vitascope/principal'
import { type FailoverServiceService, FailoverCause as ProtoCause } from '@vitascope/proto/service/v1/failover'
import { toPageSize } from '@vitascope/request'

const MAX_FAILOVERS = 100
const DEFAULT_FAILOVERS = 20

const CAUSES: Record<FailoverCause, ProtoCause> = {
  new_timeline: ProtoCause.FAILOVER_CAUSE_NEW_TIMELINE,
  other_database: ProtoCause.FAILOVER_CAUSE_OTHER_DATABASE,
  older_data: ProtoCause.FAILOVER_CAUSE_OLDER_DATA,
}

/** Lists the failovers of the service's database. `hasRepair` is whether the service calls `settleFailover`. */
export function failoverHandlers(db: Pick<Db, 'query'>, hasRepair: boolean): Handlers<typeof FailoverServiceService> {
  return {
    async listFailovers(request, { principal }) {
      requireSystemUser(principal)
      const failovers = await listFailovers(db.query, toPageSize(request, MAX_FAILOVERS, DEFAULT_FAILOVERS))
      return { failovers: failovers.map((failover) => ({ ...failover, cause: CAUSES[failover.cause] })), hasRepair }
    },
  }
}
