import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { int } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'

export const nextId = route({
  get: ['/id'],
  operationId: 'generateId',
  section: 'Id generation',
  access: 'public',
  readOnly: false,
  audited: false,
  cost: 'write',
  summary: 'Generate a unique number',
  description: 'Returns a number that this operation has not returned before.',
  response: z.object({ id: schema.text('The number as text of digits.', '42') }),
  async handle(_, { services, call }) {
    const { id } = await services.ids.nextId({}, call)
    return { id }
  },
})

export const randomId = route({
  get: ['/id/char{/:length}'],
  operationId: 'generateRandomText',
  section: 'Id generation',
  access: 'system',
  readOnly: false,
  audited: false,
  cost: 'write',
  summary: 'Generate a unique random text',
  description: 'Returns a random text that this operation has not returned before.',
  params: z.object({ length: int({ min: 4, max: 10 }, { description: 'Number of characters.' }).default(7) }),
  response: z.object({
    id: schema.text('Text of the characters A-Z, a-z and 0-9.', 'k3V9aQx'),
    length: schema.int('`length` of the request.', 7),
  }),
  errorCodes: { ids_exhausted: 'Almost all texts of this length are in use. Request a longer one.' },
  async handle({ params }, { services, call }) {
    const { id } = await services.ids.randomId({ length: params.length }, call)
    return { id, length: params.length }
  },
})

export const idRoutes = [nextId, randomId]
