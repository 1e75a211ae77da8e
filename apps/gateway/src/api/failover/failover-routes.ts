import { isDomainError } from '@vitascope/errors'
import { isUnimplemented } from '@vitascope/grpc'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { int } from '../../server/schema/fields.ts'
import { FailoversResponse, serviceResponse } from './failover-response.ts'

export const listFailovers = route({
  get: ['/failover'],
  operationId: 'listFailovers',
  section: 'Failovers',
  access: 'system',
  summary: 'List failovers of the database',
  description: `Returns when each service detected that its database had lost its last transactions, and when it had repaired the effects. Services
that share a database detect the same failover at slightly different times. A service that does not respond in time is listed
as unavailable. See [Failover of the database](/docs/operate/troubleshoot#failover-of-the-database).`,
  query: z.object({ limit: int({ min: 1, max: 100 }, { description: 'Maximum number of failovers of each service.' }).default(20) }),
  response: FailoversResponse,
  async handle({ query }, { services, call }) {
    const lists = await Promise.all(
      Object.entries(services.failovers).map(async ([service, client]) => {
        const response = await client.listFailovers({ pageSize: query.limit }, call).catch((error: unknown) => {
          // A service of an older release has no list.
          if (isUnimplemented(error) || (isDomainError(error) && error.kind === 'unavailable')) return undefined
          throw error
        })
        return serviceResponse(service, response)
      }),
    )
    return { services: lists }
  },
})

export const failoverRoutes = [listFailovers]
