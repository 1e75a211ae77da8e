import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { acceptedFields, toSchemaFields } from './accepted-fields.ts'
import { Problems } from './field-errors.ts'

const place = z.object({ city: z.string() })
const payload = z.strictObject({ name: z.string().optional(), place: place.nullable().optional(), items: z.array(place).optional() })
const record = z.object({
  id: z.string(),
  name: z.string(),
  place: place.extend({ country: z.string() }).meta({ id: 'Place' }),
  items: z.array(place.extend({ order: z.number() })),
})

function read(received: unknown, options: Partial<Parameters<typeof acceptedFields>[0]> = { record }) {
  const problems = new Problems()
  const { payload: fields, sentName } = toSchemaFields(received, acceptedFields({ payload, ...options }), problems)
  return { fields, sentName, errors: problems.list }
}

describe('fields of the record that cannot be changed', () => {
  test('are ignored, also in objects and lists', () => {
    const received = { id: '7', name: 'a', place: { city: 'b', country: 'c' }, items: [{ city: 'd', order: 1 }] }
    expect(read(received).fields).toEqual({ name: 'a', place: { city: 'b' }, items: [{ city: 'd' }] })
  })
  test('are errors if nothing else is sent', () => {
    expect(read({ id: '7' }).errors).toEqual([{ field: 'id', message: 'cannot be changed' }])
    expect(read({}).errors).toEqual([])
  })
  test('do not hide unknown fields and values of a wrong type', () => {
    for (const received of [{ name: 'a', colour: 'red' }, { place: 'b', name: 'a' }, { place: null }, [], null, 'a', undefined])
      expect(read(received).fields).toEqual(received)
  })
})

describe('another name of a field', () => {
  const options = { synonyms: { title: 'name' } }
  test('is accepted for the field, and errors have the name that was sent', () => {
    const { fields, sentName } = read({ title: '' }, options)
    expect([fields, sentName('name'), sentName('place')]).toEqual([{ name: '' }, 'title', 'place'])
    expect(read({ name: '' }, options).sentName('name')).toBe('name')
  })
  test('is an error if the field itself is sent, too', () => {
    expect(read({ title: 'a', name: 'a' }, options).errors.map(({ field }) => field)).toEqual(['title'])
  })
  test('is not a name of an inherited property', () => {
    expect(read(JSON.parse('{"__proto__":{"title":"a"},"constructor":"b"}'), options).fields).toEqual(
      JSON.parse('{"__proto__":{"title":"a"},"constructor":"b"}'),
    )
  })
})
