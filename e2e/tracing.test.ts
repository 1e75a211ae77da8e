import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { collectorPath, type ReceivedSpan, waitFor } from '@vitascope/testing'
import { buildTrees } from './support/span-tree.ts'
import { CLIENT_SPAN, setUpTracedPlatform } from './support/traced-platform.ts'
import { type UploadResponse, waitUntilSettled } from './support/video-steps.ts'

const withCollector = collectorPath() === undefined ? describe.skip : describe
const CREATE_JOB = 'vitascope.encoding.v1.JobService/CreateJob'

withCollector('traces', () => {
  const traced = setUpTracedPlatform()
  const { findTrace, findCompleteTrace, waitForTree, sampled, uploadFromUrl, receiveWebhooks } = traced

  test('one trace leads from the request to each chunk and to the webhook', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const hook = await receiveWebhooks(['video.created', 'video.playable', 'video.ready'])
    const id = await uploadFromUrl('minute.mp4', sampled(traceId), { name: 'Title of the video' })
    expect((await waitUntilSettled(traced.owner, id)).status.status).toBe('ok')
    await waitFor(async () => (await findTrace(traceId)).filter(({ name }) => name === 'deliver webhook').length === 3, {
      timeout: 30_000,
      describe: 'the spans of three webhooks',
    })
    await hook.remove()
    const { canCopyPictures } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
    const isShown = ({ name }: ReceivedSpan) => !/^(begin|commit|select|insert|update|delete|rollback)\b|AuditService|ReportJob/.test(name)
    await waitForTree(traceId, isShown, [
      'gateway: POST /v2/video/upload',
      '  gateway: vitascope.catalogue.v1.VideoService/UploadVideo',
      '    catalogue: vitascope.catalogue.v1.VideoService/UploadVideo',
      '      catalogue: deliver webhook',
      '      catalogue: send job.created',
      `        catalogue: ${CREATE_JOB}`,
      `          encoding: ${CREATE_JOB}`,
      '            encoding: send job.playable',
      '              catalogue: deliver webhook',
      '            encoding: task fetch',
      ...['audio', 'encode'].flatMap((kind) => [
        `            worker: task ${kind}`,
        '              worker: ffmpeg',
        '              worker: vitascope.encoding.v1.WorkService/CompleteTask',
        '                encoding: vitascope.encoding.v1.WorkService/CompleteTask',
      ]),
      '            worker: task package',
      '              worker: ffmpeg',
      '              worker: ffprobe',
      '              worker: vitascope.encoding.v1.WorkService/CompleteTask',
      '                encoding: vitascope.encoding.v1.WorkService/CompleteTask',
      '                  encoding: send job.ended',
      '                    catalogue: deliver webhook',
      '            worker: task probe',
      // Measures whether the picture can be copied.
      ...(canCopyPictures ? ['              worker: ffmpeg'] : []),
      '              worker: ffprobe',
      '              worker: vitascope.encoding.v1.WorkService/CompleteTask',
      '                encoding: vitascope.encoding.v1.WorkService/CompleteTask',
    ])
    const spans = await findTrace(traceId)
    const trees = buildTrees(spans)
    expect(trees.map(({ span }) => span.parentSpanId)).toEqual([CLIENT_SPAN])

    const chunks = spans.filter(({ name }) => name === 'task encode')
    // A chunk has a second span if its first attempt took too long.
    const numbers = [...new Set(chunks.map(({ attributes }) => Number(attributes['vitascope.chunk'])))].sort((a, b) => a - b)
    expect(numbers.length).toBeGreaterThan(2)
    expect(numbers).toEqual(numbers.map((_, index) => index))
    for (const { spanId } of chunks)
      expect(spans.filter(({ name, parentSpanId }) => name === 'ffmpeg' && parentSpanId === spanId).length).toBe(1)

    const listStatements = (service: string, name: string) => {
      const ids = new Set(spans.filter((span) => span.service === service && span.name === name).map(({ spanId }) => spanId))
      return spans.filter(({ parentSpanId }) => ids.has(parentSpanId)).map((span) => span.name)
    }
    expect(listStatements('catalogue', 'vitascope.catalogue.v1.VideoService/UploadVideo')).toEqual(
      expect.arrayContaining(['begin', 'insert media', 'insert video', 'insert job', 'insert outbox', 'commit']),
    )
    expect(listStatements('encoding', CREATE_JOB)).toEqual(expect.arrayContaining(['insert job', 'insert work_item', 'commit']))

    const deliveries = spans.filter(({ name }) => name === 'deliver webhook').map(({ spanId }) => `00-${traceId}-${spanId}-01`)
    expect(hook.calls.map(({ type }) => type).sort()).toEqual(['video.created', 'video.playable', 'video.ready'])
    expect(hook.calls.map(({ traceparent }) => traceparent).sort()).toEqual(deliveries.sort())

    const request = spans.find(({ name }) => name === 'POST /v2/video/upload')
    expect(request?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v2/video/upload',
      'http.response.status_code': 200,
    })
    const lines = traced.platform.log().split('\n')
    expect(lines.filter((line) => line.includes('gateway') && line.includes(`"span_id":"${request?.spanId}"`)).length).toBe(1)
    const ended = lines.filter((line) => line.includes('task ended') && line.includes(`"trace_id":"${traceId}"`))
    expect(ended.length).toBe(chunks.length + 3)
  }, 240_000)

  test('a file in a form has one trace too', async () => {
    const traceId = '11111111111111111111111111111111'
    const form = new FormData()
    form.append('organisation_id', traced.tenant.organisationId)
    form.append('file', new Blob([new Uint8Array(await readFile(join(traced.folder, 'small.mp4')))]), 'clip.mp4')
    const { status, body } = await traced.owner.send<UploadResponse>('POST', '/video/upload', { body: form, headers: sampled(traceId) })
    expect(status).toBe(200)
    expect((await waitUntilSettled(traced.owner, body.id)).status.status).toBe('ok')
    const spans = await findCompleteTrace(traceId, 'send job.ended', 'PUT /file')
    const [tree] = buildTrees(spans)
    expect(tree?.span.name).toBe('POST /v2/video/upload')
    const put = spans.find(({ name }) => name === 'PUT /file')
    expect([put?.service, put?.parentSpanId]).toEqual(['encoding', tree?.span.spanId])
    expect(spans.filter(({ parentSpanId }) => parentSpanId === put?.spanId).map(({ name }) => name)).toContain('insert upload')
  }, 120_000)

  test('a request for a file continues in delivery', async () => {
    const traceId = '55555555555555555555555555555555'
    const id = await uploadFromUrl('small.mp4', {})
    const video = await waitUntilSettled(traced.owner, id)
    const { pathname } = new URL(video.uri.hls)
    expect((await fetch(`${traced.platform.url}${pathname}`, { headers: sampled(traceId) })).status).toBe(200)
    const isRequest = ({ name }: ReceivedSpan) => name.startsWith('GET ')
    await waitForTree(traceId, isRequest, ['gateway: GET /delivery/*', '  delivery: GET /delivery/*'])
    expect((await traced.collector.text()).includes(pathname)).toBe(false)
  }, 120_000)

  test('requests without a sampled traceparent are not recorded, and pass their trace on to webhooks', async () => {
    const traceId = '33333333333333333333333333333333'
    const hook = await receiveWebhooks(['video.created'])
    await uploadFromUrl('small.mp4', { traceparent: `00-${traceId}-${CLIENT_SPAN}-00` })
    await waitFor(() => hook.calls.length === 1, { timeout: 30_000, describe: 'the webhook' })
    expect(hook.calls[0]?.traceparent).toBe(`00-${traceId}-${CLIENT_SPAN}-00`)
    await uploadFromUrl('small.mp4', { traceparent: '00-not-a-traceparent-01' })
    await waitFor(() => hook.calls.length === 2, { timeout: 30_000, describe: 'the webhook' })
    expect(hook.calls[1]?.traceparent).toBeUndefined()
    await hook.remove()
    expect(await findTrace(traceId)).toEqual([])
    // Each trace of these tests was sampled by its client.
    const roots = (await traced.collector.spans()).filter(({ parentSpanId }) => parentSpanId === '')
    expect(roots).toEqual([])
  }, 120_000)

  test('spans have no keys, texts, paths, queries or addresses', async () => {
    const traceId = '44444444444444444444444444444444'
    const headers = sampled(traceId)
    const password = 'password-of-the-video'
    const email = 'person@example.org'
    await traced.owner.send('GET', `/video?search=word-of-the-query&api_key=${traced.tenant.key}`, { headers })
    await traced.owner.send('GET', '/video/123456789012345', { headers })
    await traced.owner.send('GET', '/no/such/path-of-the-request', { headers })
    const json = { 'content-type': 'application/json', ...headers }
    const user = {
      email,
      first_name: 'Firstname',
      last_name: 'Lastname',
      user_type: 'nonsense',
      organisation_id: traced.tenant.organisationId,
    }
    await traced.platform.system.send('POST', '/user', { body: JSON.stringify(user), headers: json })
    await traced.owner.send('POST', '/video/authenticate', { body: JSON.stringify({ password }), headers: json })
    const id = await uploadFromUrl('small.mp4', headers, { name: 'Title of a text' })
    await waitUntilSettled(traced.owner, id)
    await waitFor(async () => (await findTrace(traceId)).some(({ name }) => name === 'send job.ended'), { timeout: 30_000 })
    const received = await traced.collector.text()
    const { port } = new URL(traced.sources.url)
    const secrets = [
      traced.tenant.key,
      'system-key-of-the-tests',
      'word-of-the-query',
      'path-of-the-request',
      '123456789012345',
      password,
      email,
    ]
    for (const secret of [
      ...secrets,
      'Firstname',
      'Title of',
      'of-the-url',
      '127.0.0.1',
      `:${port}`,
      'traceparent',
      traced.folder,
      traced.platform.dataDir,
    ]) {
      expect([secret, received.includes(secret)]).toEqual([secret, false])
    }
    const keys = new Set((await traced.collector.spans()).flatMap(({ attributes }) => Object.keys(attributes)))
    expect([...keys].filter((key) => !/^(http|rpc|db|messaging|process|error|vitascope)\./.test(key))).toEqual([])
  }, 120_000)
})
