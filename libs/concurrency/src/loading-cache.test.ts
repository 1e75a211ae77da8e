import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createLoadingCache, type LoadingCacheOptions } from './loading-cache.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A cache with a clock of the test, whose loads run until the test finishes them. */
function controlledCache(options: LoadingCacheOptions<string>) {
  const clock = { at: 0 }
  const cache = createLoadingCache<string>({ ...options, now: () => clock.at })
  const loads: { keys: string; resolve: (value: string) => void; reject: (error: Error) => void }[] = []
  const load = (keys: string) => new Promise<string>((resolve, reject) => loads.push({ keys, resolve, reject }))
  const get = (key: string) => cache.get(key, () => load(key))
  /** Loads a value at once. */
  const fill = (key: string, value = key) => cache.get(key, async () => value)
  return { cache, clock, loads, load, get, fill }
}

test('concurrent requests for one key share one load, and later ones get the cached value', async () => {
  const { cache, loads, get, load } = controlledCache({ max: 10 })
  const requests = [get('a'), get('b'), get('a'), cache.reload('a', () => load('a'))]
  expect(loads.map(({ keys }) => keys)).toEqual(['a', 'b'])
  loads[0]?.resolve('A')
  loads[1]?.resolve('B')
  expect(await Promise.all(requests)).toEqual(['A', 'B', 'A', 'A'])
  expect(await get('a')).toBe('A')
  expect(loads).toHaveLength(2)
})

test('an error reaches all requests of its load and is not cached', async () => {
  const { loads, get } = controlledCache({ max: 10 })
  const requests = [get('a'), get('a')]
  loads[0]?.reject(new Error('away'))
  for (const request of requests) await expect(request).rejects.toThrow('away')
  const next = get('a')
  loads[1]?.resolve('A')
  expect(await next).toBe('A')
})

test('a value is fresh for its time to live, and remains readable when it is stale', async () => {
  const { cache, clock, fill, loads, get } = controlledCache({ max: 10, ttlMs: (value) => (value === '' ? 1_000 : 30_000) })
  await fill('missing', '')
  await fill('found')
  clock.at = 999
  expect(cache.last('missing')).toEqual({ value: '', ageMs: 999, isFresh: true })
  clock.at = 1_000
  expect(cache.last('missing')).toEqual({ value: '', ageMs: 1_000, isFresh: false })
  expect(await get('found')).toBe('found')
  clock.at = 30_000
  void get('found')
  void get('missing')
  expect(loads.map(({ keys }) => keys)).toEqual(['found', 'missing'])
})

test('a value without a time to live is shared by concurrent requests but not cached', async () => {
  const { cache, fill } = controlledCache({ max: 10, ttlMs: () => 0 })
  expect(await fill('a')).toBe('a')
  expect(cache.last('a')).toBeUndefined()
})

test('a value added with set is stale unless it has a time to live', async () => {
  const { cache, get, loads } = controlledCache({ max: 10 })
  cache.set('a', 'old')
  cache.set('b', 'B', 10)
  expect(await get('b')).toBe('B')
  const request = get('a')
  loads[0]?.resolve('new')
  expect(await request).toBe('new')
})

test('the least recently used value is evicted, loads in flight are not', async () => {
  const { cache, fill, get, loads } = controlledCache({ max: 2 })
  const running = get('a')
  for (const key of ['b', 'c', 'b', 'd']) await fill(key)
  expect(['b', 'c', 'd'].map((key) => cache.last(key)?.value)).toEqual(['b', undefined, 'd'])
  loads[0]?.resolve('A')
  expect(await running).toBe('A')
})

test('a cache bounded by size keeps no value that exceeds it', async () => {
  const { cache, fill } = controlledCache({ maxSize: 10, getSize: (value) => value.length })
  await fill('a', 'x'.repeat(6))
  await fill('b', 'x'.repeat(6))
  await fill('c', 'x'.repeat(11))
  expect(['a', 'b', 'c'].map((key) => cache.last(key)?.value.length)).toEqual([undefined, 6, undefined])
})

test('missing keys evict no values, and a key is cached either as found or as missing', async () => {
  const { cache, clock, fill } = controlledCache({ max: 2, maxMissing: 2, isMissing: (value) => value === '', ttlMs: () => 10 })
  await fill('a')
  for (const key of ['b', 'c', 'd', 'e']) await fill(key, '')
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => cache.last(key)?.value)).toEqual(['a', undefined, undefined, '', ''])
  clock.at = 10
  await fill('a', '')
  await fill('e', 'created')
  expect(['a', 'e'].map((key) => cache.last(key)?.value)).toEqual(['', 'created'])
})

test.each([
  ['deleteWhere', (cache: ReturnType<typeof controlledCache>['cache']) => cache.deleteWhere((value) => value === 'revoked')],
  ['clear', (cache: ReturnType<typeof controlledCache>['cache']) => cache.clear()],
])('%s drops loads in flight: their requests get the value, later requests load anew', async (_, invalidate) => {
  const { cache, fill, get, loads } = controlledCache({ max: 10 })
  await fill('other', 'revoked')
  const before = get('a')
  invalidate(cache)
  const after = get('a')
  loads[1]?.resolve('after')
  expect(await after).toBe('after')
  loads[0]?.resolve('before')
  expect(await before).toBe('before')
  expect(cache.last('a')?.value).toBe('after')
  expect(cache.last('other')).toBeUndefined()
})

test('deleteWhere keeps the values that do not match', async () => {
  const { cache, fill } = controlledCache({ max: 10 })
  await fill('a')
  cache.deleteWhere((value) => value === 'b')
  expect(cache.last('a')?.value).toBe('a')
})

test('getMany loads only keys that are neither fresh nor in flight, in batches', async () => {
  const { cache, fill, get, loads } = controlledCache({ max: 10 })
  await fill('a', 'A')
  const running = get('b')
  const batches: (readonly string[])[] = []
  const many = cache.getMany(
    ['a', 'b', 'c', 'd', 'e'],
    async (keys) => {
      batches.push(keys)
      return new Map(keys.map((key) => [key, key.toUpperCase()]))
    },
    2,
  )
  loads[0]?.resolve('B')
  expect(Object.fromEntries(await many)).toEqual({ a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' })
  expect(await running).toBe('B')
  expect(batches).toEqual([['c', 'd'], ['e']])
  expect(cache.last('d')?.value).toBe('D')
})

test('a failed batch of getMany fails its requests and is not cached', async () => {
  const { cache, get, loads } = controlledCache({ max: 10 })
  let fail: (error: Error) => void = () => {}
  const many = cache.getMany(['a', 'b'], () => new Promise((_, reject) => (fail = reject)))
  const single = get('b')
  fail(new Error('away'))
  await expect(many).rejects.toThrow('away')
  await expect(single).rejects.toThrow('away')
  expect(loads).toHaveLength(0)
  void get('a')
  expect(loads).toHaveLength(1)
})

test('a request never gets a value from before an invalidation, and each key has at most one current load', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('get' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ kind: fc.constant('finish' as const), nth: fc.nat(5), fails: fc.boolean() }),
    fc.record({ kind: fc.constant('change' as const) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 15 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { cache, clock, load, loads } = controlledCache({ max: 2, ttlMs: () => 10 })
      let version = 0
      const currentLoads = new Map<string, number>()
      const requests: Promise<void>[] = []
      for (const each of steps) {
        if (each.kind === 'pass') clock.at += each.ms
        if (each.kind === 'change') {
          version++
          cache.clear()
          currentLoads.clear()
        }
        if (each.kind === 'get') {
          const from = version
          const request = cache.get(each.key, async () => {
            expect(currentLoads.get(each.key) ?? 0).toBe(0)
            currentLoads.set(each.key, 1)
            const started = version
            return await load(String(started)).finally(() => {
              if (started === version) currentLoads.delete(each.key)
            })
          })
          requests.push(
            request.then(
              (value) => expect(Number(value)).toBeGreaterThanOrEqual(from),
              (error: Error) => expect(error.message).toBe('away'),
            ),
          )
        }
        if (each.kind === 'finish' && loads.length > 0) {
          const [load] = loads.splice(each.nth % loads.length, 1)
          if (each.fails) load?.reject(new Error('away'))
          else load?.resolve(load.keys)
        }
        await settle()
      }
      for (const load of loads) load.resolve(load.keys)
      await Promise.all(requests)
    }),
    { numRuns: 100 },
  )
})
