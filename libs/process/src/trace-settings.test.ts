import { expect, test } from '@jest/globals'
import { readTraceSettings } from './trace-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

test.each([
  ['without settings', {}, false],
  ['with an endpoint', ENDPOINT, true],
  ['with an endpoint of traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }, true],
  ['with the exporter otlp', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ['with the exporter none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
  ['when the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, false],
])('%s traces are on: %#', (_, env, isOn) => {
  expect(readTraceSettings(env) !== undefined).toBe(isOn)
})

test('reads the sampler and its share', () => {
  const settings = readTraceSettings({ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' })
  expect(settings).toMatchObject({ sampler: 'parentbased_traceidratio', ratio: 0.1, clientTracesPerSecond: 10 })
})

test.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER must be otlp or none'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf'],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER must be one of'],
  [{ OTEL_TRACES_SAMPLER_ARG: '10 %' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '0' }, 'OTEL_BSP_MAX_QUEUE_SIZE must be an integer'],
])('rejects %j', (env, message) => {
  expect(() => readTraceSettings(env)).toThrow(message)
})
