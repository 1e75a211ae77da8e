import { afterEach, expect, test } from '@jest/globals'
import { trace } from '@opentelemetry/api'
import { createLogger } from './log.ts'
import { currentTraceparent, setTracing, traced, tracedFrom, traceLogFields, untraced } from './trace.ts'
import { createSdk } from './trace-sdk.ts'
import type { TraceSettings } from './trace-settings.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SAMPLED = `00-${TRACE_ID}-00f067aa0ba902b7-01`
const UNSAMPLED = `00-${TRACE_ID}-00f067aa0ba902b7-00`

/** Nothing is sent: no span of these tests ends within the delay. */
function start(settings: Partial<TraceSettings> = {}) {
  const { tracing } = createSdk(
    'test',
    {
      ...{ sampler: 'parentbased_always_on', ratio: 1, clientTracesPerSecond: 2, headers: undefined },
      ...{ scheduleDelayMs: 60_000, maxQueueSize: 10, maxBatchSize: 10 },
      ...settings,
    },
    log,
  )
  setTracing(tracing)
  return tracing
}

afterEach(() => setTracing(undefined))

function admit(settings: Partial<TraceSettings>, traceparents: readonly (string | undefined)[]) {
  const { admit } = start(settings)
  return traceparents.map((traceparent) => admit(traceparent)?.isSampled)
}

test.each([
  ['parentbased_always_on', [true, true, false]],
  ['parentbased_always_off', [undefined, true, false]],
  ['always_on', [true, true, true]],
  ['always_off', [undefined, false, false]],
] as const)('%s decides about requests without, with a sampled and with an unsampled traceparent', (sampler, expected) => {
  expect(admit({ sampler }, [undefined, SAMPLED, UNSAMPLED])).toEqual(expected)
})

test('a client causes a bounded number of records in a second', () => {
  const sampled = admit({ sampler: 'parentbased_always_off', clientTracesPerSecond: 2 }, Array(50).fill(SAMPLED))
  // The second may end once meanwhile.
  expect(sampled.filter((isSampled) => isSampled).length).toBeLessThanOrEqual(4)
  expect(sampled.slice(0, 2)).toEqual([true, true])
})

test('the trace id of a client has no influence on a ratio', () => {
  const lowest = `00-${'0'.repeat(31)}1-00f067aa0ba902b7-01`
  const settings = { ratio: 0.000_001, clientTracesPerSecond: 0 }
  expect(admit({ sampler: 'traceidratio', ...settings }, Array(20).fill(lowest))).toEqual(Array(20).fill(false))
  expect(admit({ sampler: 'parentbased_traceidratio', ...settings }, Array(20).fill(lowest))).toEqual(Array(20).fill(false))
})

test('a ratio records about that share of the requests', () => {
  const sampled = admit({ sampler: 'parentbased_traceidratio', ratio: 0.25 }, Array(4_000).fill(undefined))
  const share = sampled.filter((isSampled) => isSampled).length / sampled.length
  expect(share).toBeGreaterThan(0.2)
  expect(share).toBeLessThan(0.3)
})

test.each(['', '00-1-2-01', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `ff-${TRACE_ID}-00f067aa0ba902b7-01`, `${SAMPLED}-x`])(
  'a malformed traceparent %j counts as none',
  (traceparent) => {
    expect(admit({ sampler: 'parentbased_always_off' }, [traceparent])).toEqual([undefined])
  },
)

test('a span continues a stored trace, and log lines and calls within it have its ids', async () => {
  start()
  const outer = await tracedFrom(
    SAMPLED,
    () => ({ name: 'outer' }),
    async () => ({ own: currentTraceparent(), fields: traceLogFields(), inner: await traced(() => ({ name: 'inner' }), readTraceparent) }),
  )
  expect(outer.own).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`))
  expect(outer.fields).toEqual({ trace_id: TRACE_ID, span_id: outer.own?.split('-')[2] })
  expect(outer.inner).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`))
  expect(outer.inner).not.toBe(outer.own)
  expect(currentTraceparent()).toBeUndefined()
})

test('an unsampled trace is passed on without spans', async () => {
  start()
  const inner = await tracedFrom(UNSAMPLED, fail, () => traced(fail, readTraceparent))
  expect(inner).toBe(UNSAMPLED)
})

test('work outside of a trace has no span', async () => {
  start()
  expect(await traced(fail, readTraceparent)).toBeUndefined()
  expect(await tracedFrom(undefined, fail, readTraceparent)).toBeUndefined()
  expect(
    await tracedFrom(
      SAMPLED,
      () => ({ name: 'a' }),
      () => untraced(() => traced(fail, readTraceparent)),
    ),
  ).toBeUndefined()
})

test('an error is recorded by its reason, without its message', async () => {
  const { tracer } = start()
  const spans: unknown[] = []
  const startSpan = tracer.startSpan.bind(tracer)
  tracer.startSpan = (...args) => {
    const span = startSpan(...args)
    spans.push(span)
    return span
  }
  const failing = async () => Promise.reject(Object.assign(new Error('text of a user'), { reason: 'NOT_FOUND' }))
  await expect(tracedFrom(SAMPLED, () => ({ name: 'a' }), failing)).rejects.toThrow('text of a user')
  expect(spans).toEqual([expect.objectContaining({ attributes: { 'error.type': 'NOT_FOUND' }, status: { code: 2 }, events: [] })])
})

test('without tracing, functions run in no span', async () => {
  expect(await traced(fail, readTraceparent)).toBeUndefined()
  expect(await tracedFrom(SAMPLED, fail, readTraceparent)).toBeUndefined()
  expect(traceLogFields()).toEqual({})
  expect(trace.getActiveSpan()).toBeUndefined()
})

const readTraceparent = async () => currentTraceparent()
const fail = (): never => {
  throw new Error('no span is described')
}
