import { type Failover, FailoverCause, type ListFailoversResponse } from '@vitascope/proto/service/v1/failover'
import { z } from 'zod'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'

const FailoverResponse = z.object({
  failover_id: schema.text('Number of the failover in this service.', '2'),
  cause: z.enum(['new_timeline', 'other_database', 'older_data', 'unknown']).meta({
    description: `What changed in the database. \`new_timeline\`: a standby was promoted, or the database was restored to a point in time.
\`other_database\`: a restored copy took its place. \`older_data\`: an older copy of its disk was restored.`,
    example: 'new_timeline',
  }),
  time_detected: schema.timestamp('Time at which the service detected it.'),
  time_repaired: schema.timestamp(
    'Time at which the service had repaired its effects. Empty before that, and in services without a repair.',
  ),
})

const ServiceResponse = z.object({
  service: schema.text('Name of the service.', 'catalogue'),
  available: schema.bool('false if the service or its database did not respond. Its list is empty then.'),
  has_repair: schema.bool('true if the service repairs the effects of a failover, so that `time_repaired` will be set.'),
  failovers: z.array(FailoverResponse).meta({ description: 'Failovers of its database, newest first.' }),
})

export const FailoversResponse = z.object({
  services: z.array(ServiceResponse).meta({ description: 'The services with a database.' }),
})

type Service = z.input<typeof ServiceResponse>

const CAUSES: Record<FailoverCause, z.input<typeof FailoverResponse>['cause']> = {
  [FailoverCause.FAILOVER_CAUSE_UNSPECIFIED]: 'unknown',
  [FailoverCause.FAILOVER_CAUSE_NEW_TIMELINE]: 'new_timeline',
  [FailoverCause.FAILOVER_CAUSE_OTHER_DATABASE]: 'other_database',
  [FailoverCause.FAILOVER_CAUSE_OLDER_DATA]: 'older_data',
  [FailoverCause.UNRECOGNIZED]: 'unknown',
}

/** `response` is undefined if the service did not respond. */
export function serviceResponse(service: string, response: ListFailoversResponse | undefined): Service {
  if (!response) return { service, available: false, has_repair: false, failovers: [] }
  return { service, available: true, has_repair: response.hasRepair, failovers: response.failovers.map(failoverResponse) }
}

function failoverResponse({ failoverId, cause, detectTime, repairTime }: Failover): z.input<typeof FailoverResponse> {
  return {
    failover_id: failoverId,
    cause: CAUSES[cause],
    time_detected: formatOptionalTimestamp(required(detectTime, 'detect_time')),
    time_repaired: formatOptionalTimestamp(repairTime),
  }
}
