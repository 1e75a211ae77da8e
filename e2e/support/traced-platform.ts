import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect } from '@jest/globals'
import { type ReceivedSpan, startCollector, type TestCollector, waitFor } from '@vitascope/testing'
import type { Api } from './api.ts'
import { type SourceServer, startSourceServer } from './source-server.ts'
import { makeSource } from './sources.ts'
import { buildTrees, formatTree } from './span-tree.ts'
import { startTestPlatform, type TestPlatform } from './test-platform.ts'
import { createTenant, type Tenant, type UploadResponse } from './video-steps.ts'

/** Span of the client, which the tests do not send. */
export const CLIENT_SPAN = '00f067aa0ba902b7'

/** Starts a platform that sends its spans to a collector, for the tests of a file. */
export function setUpTracedPlatform() {
  let folder: string
  let collector: TestCollector
  let platform: TestPlatform
  let sources: SourceServer
  let tenant: Tenant
  let owner: Api

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    for (const kind of ['small.mp4', 'minute.mp4'] as const) await makeSource(folder, kind)
    collector = await startCollector()
    // Only requests whose traceparent is sampled are recorded.
    platform = await startTestPlatform({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
    tenant = await createTenant(platform.system)
    owner = platform.withKey(tenant.key)
  }, 240_000)
  afterAll(async () => {
    await platform?.remove()
    await collector?.stop()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const findTrace = async (traceId: string) => (await collector.spans()).filter((span) => span.traceId === traceId)
  /** Returns the spans of a trace once all given names occur and the parent of each span except one has arrived. */
  const findCompleteTrace = async (traceId: string, ...names: string[]) => {
    let spans: ReceivedSpan[] = []
    const isComplete = async () => {
      spans = await findTrace(traceId)
      return names.every((name) => spans.some((span) => span.name === name)) && buildTrees(spans).length === 1
    }
    await waitFor(isComplete, {
      timeout: 30_000,
      describe: () => `the complete trace; there are:\n${formatTree(buildTrees(spans), () => true).join('\n')}`,
    })
    return spans
  }
  /** Waits until a trace has these spans, as `formatTree` shows them. */
  const waitForTree = async (traceId: string, isShown: (span: ReceivedSpan) => boolean, expected: readonly string[]) => {
    let shown: string[] = []
    const isEqual = async () => {
      shown = formatTree(buildTrees(await findTrace(traceId)), isShown)
      return isDeepStrictEqual(shown, expected)
    }
    await waitFor(isEqual, { timeout: 30_000, describe: () => `the tree of spans; there are:\n${shown.join('\n')}` })
  }
  const sampled = (traceId: string) => ({ traceparent: `00-${traceId}-${CLIENT_SPAN}-01` })
  const uploadFromUrl = async (file: string, headers: Record<string, string>, fields: Record<string, string> = {}) => {
    const body = JSON.stringify({ url: `${sources.url}/${file}`, organisation_id: tenant.organisationId, ...fields })
    const response = await owner.send<UploadResponse>('POST', '/video/upload', {
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
    expect(response.status).toBe(200)
    return response.body.id
  }
  /** Registers a webhook. Returns the headers of its calls. */
  const receiveWebhooks = async (events: readonly string[]) => {
    const calls: { type: string; traceparent: string | undefined }[] = []
    sources.setHandler('/hook', async (request, response) => {
      const { type } = JSON.parse(await text(request)) as { type: string }
      const { traceparent } = request.headers
      calls.push({ type, traceparent: typeof traceparent === 'string' ? traceparent : undefined })
      response.end()
    })
    const { status, body } = await owner.post<{ webhook_id: string }>('/webhook', { url: `${sources.url}/hook?secret=of-the-url`, events })
    expect(status).toBe(201)
    return { calls, remove: () => owner.delete(`/webhook/${body.webhook_id}`) }
  }

  return {
    ...{ findTrace, findCompleteTrace, waitForTree, sampled, uploadFromUrl, receiveWebhooks },
    get folder() {
      return folder
    },
    get collector() {
      return collector
    },
    get platform() {
      return platform
    },
    get sources() {
      return sources
    },
    get tenant() {
      return tenant
    },
    get owner() {
      return owner
    },
  }
}
