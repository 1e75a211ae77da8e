import { z } from 'zod'
import { int } from '../fields.ts'
import { shown } from '../public-form.ts'
import { route } from '../route.ts'

export const nextId = route({
  get: ['/id'],
  section: 'Id generation',
  access: 'public',
  safe: false,
  audited: false,
  cost: 'write',
  summary: 'Take a number that was never given before',
  answer: z.object({ id: shown.text('Digits.', '42') }),
  async handle(_, { services, call }) {
    const { id } = await services.ids.nextId({}, call)
    return { id }
  },
})

export const randomId = route({
  get: ['/id/char{/:length}'],
  section: 'Id generation',
  access: 'system',
  safe: false,
  audited: false,
  cost: 'write',
  summary: 'Take a random text that was never given before',
  params: z.object({ length: int({ min: 4, max: 10 }, { description: 'Characters.' }).default(7) }),
  answer: z.object({ id: shown.text('Of A-Z, a-z and 0-9.', 'k3V9aQx'), length: shown.int('As asked.', 7) }),
  async handle({ params }, { services, call }) {
    const { id } = await services.ids.randomId({ length: params.length }, call)
    return { id, length: params.length }
  },
})

export const idRoutes = [nextId, randomId]
