import { normaliseAddress } from '@vitascope/access'
import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { text } from '../fields.ts'
import { shown } from '../public-form.ts'
import { route } from '../route.ts'

const most = 1_000

const ipAddress = field(
  (value) => (typeof value === 'string' && normaliseAddress(value)) || refuse('must be an IPv4 or IPv6 address'),
  z.string().meta({ description: 'IPv4 or IPv6.', example: '192.0.2.7' }),
)

const objectIds = text(
  most * 20,
  { min: 1 },
  { description: `Ids of videos, joined by commas: at most ${most}.`, example: '4611686018427387904,4611686018427387905' },
)
  .transform((ids) => ids.split(',').map((id) => id.trim()))
  .superRefine((ids, context) => {
    const empty = ids.flatMap((id, index) => (id === '' ? [index + 1] : []))
    const message = ids.length > most ? `must be 1 to ${most} ids` : `has no id in place ${empty.slice(0, 10).join(', ')} of ${ids.length}`
    if (ids.length > most || empty.length > 0) context.addIssue({ code: 'custom', message, input: ids })
  })

export const checkAddress = route({
  get: ['/security/ip/:ipAddress', '/security/:ipAddress'],
  section: 'IP security',
  access: 'system',
  summary: 'Tell which videos an address may have',
  description: 'By the rules that delivery follows: the video’s own `allowed_ips`, else those of its organisation. Unknown ids fail.',
  params: z.object({ ipAddress }),
  query: z.object({ object_ids: objectIds }),
  answer: z.object({
    ip: shown.text('In its usual spelling.', '192.0.2.7'),
    pass: z.array(z.string()).meta({ description: 'Those that it may have.' }),
    fail: z.array(z.string()).meta({ description: 'All others.' }),
  }),
  async handle({ params, query }, { services, call }) {
    const { pass, fail } = await services.security.checkAddress({ address: params.ipAddress, videoIds: query.object_ids }, call)
    return { ip: params.ipAddress, pass, fail }
  },
})

export const securityRoutes = [checkAddress]
