import { normaliseAddress } from '@vitascope/security'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { field, reject } from '../../server/schema/field.ts'
import { text } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'

const maxVideos = 1_000

const ipAddress = field(
  (value) => (typeof value === 'string' && normaliseAddress(value)) || reject('must be an IPv4 or IPv6 address'),
  z.string().meta({ description: 'IPv4 or IPv6 address.', example: '192.0.2.7' }),
)

const objectIds = text(
  maxVideos * 20,
  { min: 1 },
  { description: `Ids of at most ${maxVideos} videos, separated by commas.`, example: '4611686018427387904,4611686018427387905' },
)
  .transform((ids) => ids.split(',').map((id) => id.trim()))
  .superRefine((ids, context) => {
    const empty = ids.flatMap((id, index) => (id === '' ? [index + 1] : []))
    const message =
      ids.length > maxVideos ? `must be 1 to ${maxVideos} ids` : `has no id at position ${empty.slice(0, 10).join(', ')} of ${ids.length}`
    if (ids.length > maxVideos || empty.length > 0) context.addIssue({ code: 'custom', message, input: ids })
  })

export const checkAddress = route({
  get: ['/security/ip/:ipAddress', '/security/:ipAddress'],
  operationId: 'checkIpAddress',
  section: 'IP security',
  access: 'system',
  summary: 'Check which videos an address may load',
  description: 'Applies the same rules as delivery: `allowed_ips` of the video, or else of its organisation. Unknown ids fail.',
  params: z.object({ ipAddress }),
  query: z.object({ object_ids: objectIds }),
  publicNames: { address: 'ip_address', video_ids: 'object_ids' },
  response: z.object({
    ip: schema.text('The IP address in canonical form.', '192.0.2.7'),
    pass: z.array(z.string()).meta({ description: 'Ids of the videos that the address may load.' }),
    fail: z.array(z.string()).meta({ description: 'Ids of all other videos.' }),
  }),
  async handle({ params, query }, { services, call }) {
    const { pass, fail } = await services.security.checkAddress({ address: params.ipAddress, videoIds: query.object_ids }, call)
    return { ip: params.ipAddress, pass, fail }
  },
})

export const securityRoutes = [checkAddress]
