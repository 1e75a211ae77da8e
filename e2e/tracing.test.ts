import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { collectorPath, type ReceivedSpan, startCollector, type TestCollector, waitFor } from '@vitascope/testing'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { buildTrees, formatTree } from './support/span-tree.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type UploadResponse, waitUntilSettled } from './support/video-steps.ts'

const withCollector = collectorPath() === undefined ? describe.skip : describe

withCollector('traces', () => {
  let folder: string
  let collector: TestCollector
  let platform: TestPlatform
  let sources: SourceServer
  let tenant: Tenant

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'minute.mp4')
    collector = await startCollector()
    platform = await startTestPlatform({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
    tenant = await createTenant(platform.system)
  }, 240_000)
  afterAll(async () => {
    await platform?.remove()
    await collector?.stop()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('one trace leads from the request to each chunk and to the webhook', async () => {
    const owner = platform.withKey(tenant.key)
    const received: Record<string, string>[] = []
    sources.setHandler('/hook', async (request, response) => {
      received.push({ traceparent: String(request.headers['traceparent']), body: await text(request) })
      response.end()
    })
    await owner.post('/webhook', { url: `${sources.url}/hook`, events: ['video.created', 'video.playable', 'video.ready'] })
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const { status, body } = await owner.send<UploadResponse>('POST', '/video/upload', {
      body: JSON.stringify({ url: `${sources.url}/minute.mp4`, organisation_id: tenant.organisationId }),
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    })
    expect(status).toBe(200)
    expect((await waitUntilSettled(owner, body.id)).status.status).toBe('ok')
    await waitFor(() => received.length === 3, { timeout: 30_000, describe: 'three webhooks' })
    const findTrace = async () => (await collector.spans()).filter((span) => span.traceId === traceId)
    await waitFor(async () => (await findTrace()).filter(({ name }) => name === 'deliver webhook').length === 3, { timeout: 10_000 })
    const isShown = ({ name }: ReceivedSpan) => !/^(begin|select|update|delete|insert|commit)/.test(name)
    console.log(formatTree(buildTrees(await findTrace()), isShown).join('\n'))
    console.log(
      (await findTrace()).length,
      received,
      (await findTrace())
        .filter(({ name }) => !/^(begin|select|update|delete|insert|commit)/.test(name))
        .map(({ attributes, name }) => JSON.stringify([name, attributes]))
        .join('\n'),
      platform
        .log()
        .split('\n')
        .filter((line) => line.includes(traceId))
        .slice(0, 10)
        .join('\n'),
    )
  }, 240_000)
})
