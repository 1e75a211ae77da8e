import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Call, openChannel, type Principal, serviceCall } from '@vitascope/grpc'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { Presentation, PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import type { RunningGrpcService } from '@vitascope/service'
import { freePort, testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import type { readConfig } from '../src/config.ts'
import { startCatalogue } from '../src/service.ts'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'
import { serviceConfig } from './service-config.ts'
import { authStandIn, encodingStandIn } from './stand-ins.ts'

type Config = ReturnType<typeof readConfig>

let database: CatalogueDatabase
let service: RunningGrpcService
let encoding: ReturnType<typeof encodingStandIn>
let auth: Awaited<ReturnType<typeof authStandIn>>
let request: ReturnType<typeof clients>
let config: Config

function clients(address: string) {
  const channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  return {
    presentations: channel.client(PresentationServiceService),
    jobs: channel.client(JobServiceService),
    policies: channel.client(PlaybackPolicyServiceService),
    close: () => channel.close(),
  }
}

beforeAll(async () => {
  database = await catalogueDatabase()
  auth = await authStandIn()
  encoding = encodingStandIn(`127.0.0.1:${await freePort()}`)
  await encoding.start()
  config = serviceConfig({ databaseUrl: database.url, encodingAddress: encoding.address, authAddress: auth.address })
  service = await startCatalogue(config, testLog)
  request = clients(service.address)
})
afterAll(async () => {
  request.close()
  await service.stop()
  await encoding.stop()
  await auth.stop()
  await database.close()
})

const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), principal })
const user = (organisationId: string, userType: 'uploader' | 'standard' | 'system' = 'standard') =>
  toCall({ kind: 'user', keyId: '3', userId: `7${organisationId}`, organisationId, userType })
const [owner, foreignCaller, system] = [user('1'), user('2'), user('1', 'system')]
const guest = toCall({ kind: 'guest' })
const internal = serviceCall('encoding', 'r')

const fields = { organisationId: '1', userId: '', title: 'Launch', description: '', videoId: '' }
const create = async (more: Partial<typeof fields> = {}, call = system) => {
  const { presentation } = await request.presentations.createPresentation({ ...fields, ...more }, call)
  if (!presentation) throw new Error('the response has no presentation')
  return presentation
}
let objects = 0
const add = (more: Partial<Parameters<typeof request.presentations.addSlides>[0]> = {}, call = internal) =>
  request.presentations.addSlides(
    {
      ...{ presentationId: '', organisationId: '1', userId: '71', filename: 'launch.v2.pdf' },
      ...{ sourceObject: `upload/1/s${objects++}`, sourceBytes: 10, uploadId: '', ...more },
    },
    call,
  )
const toSlideSet = (jobId: string, presentationId: string) =>
  SlideSet.fromPartial({
    jobId,
    prefix: `slides/${presentationId}/${jobId}-1`,
    slides: [1, 2].map((page) => ({ path: `s${page}.jpg`, thumbnailPath: `t${page}.jpg`, width: 64, height: 36 })),
    documentPath: 'document.pdf',
    bytes: 5,
  })
const reportSlides = (jobId: string, presentationId: string, more: Partial<SlideSet> = {}) =>
  request.jobs.reportJob(
    { jobId, revision: 9, update: { $case: 'slidesMade', value: { slides: { ...toSlideSet(jobId, presentationId), ...more } } } },
    internal,
  )
const read = async (presentationId: string, call = owner) =>
  (await request.presentations.getPresentation({ presentationId }, call)).presentation

test('a file becomes a presentation whose slides every caller sees', async () => {
  const { presentationId, jobId } = await add()
  await waitFor(() => encoding.state.slideJobs.get(jobId))
  expect(encoding.state.slideJobs.get(jobId)).toEqual({
    ...{ jobId, presentationId, organisationId: '1', sourceBytes: 10 },
    sourceObject: expect.stringMatching(/^upload\/1\/s\d+$/),
  })
  expect(await read(presentationId)).toMatchObject({
    title: 'launch.v2',
    filename: 'launch.v2.pdf',
    status: { state: 'PRESENTATION_STATE_PROCESSING', progress: 5, code: 2 },
  })
  expect(await request.jobs.reportJob({ jobId, revision: 1, update: { $case: 'progress', value: { percent: 50 } } }, internal)).toEqual({
    needed: true,
  })
  await expect(request.policies.getPresentationPolicy({ presentationId }, internal)).rejects.toMatchObject({
    reason: 'PRESENTATION_NOT_FOUND',
  })
  expect(await reportSlides(jobId, presentationId)).toEqual({ needed: true })
  const { presentation } = await request.presentations.findPublicPresentation({ presentationId }, guest)
  expect(presentation).toMatchObject({ status: { state: 'PRESENTATION_STATE_AWAITING_TIMINGS', progress: 99, code: 1999 } })
  expect(await request.policies.getPresentationPolicy({ presentationId }, internal)).toMatchObject({
    sets: [{ version: presentation?.documentVersion, prefix: `slides/${presentationId}/${jobId}-1` }],
    videoId: '',
    tokenRequired: false,
  })
  const timings = [
    { slide: 1, seconds: 0 },
    { slide: 2, seconds: 30 },
  ]
  const change = { presentation: Presentation.fromPartial({ presentationId }), updateMask: [], timings }
  expect((await request.presentations.updatePresentation(change, system)).presentation?.status).toMatchObject({
    state: 'PRESENTATION_STATE_OK',
    progress: 100,
    code: 2000,
  })
  expect((await read(presentationId))?.slides.map(({ seconds }) => seconds)).toEqual([0, 30])
  expect((await request.jobs.checkJobs({ jobIds: [jobId, '999999'] }, internal)).neededJobIds).toEqual([jobId])
  await request.presentations.deletePresentation({ presentationId }, system)
  expect((await request.jobs.checkJobs({ jobIds: [jobId] }, internal)).neededJobIds).toEqual([])
  await waitFor(() => encoding.state.cancelled.has(jobId))
})

test('the reason of a failure is visible to its organisation only', async () => {
  const { presentationId, jobId } = await add()
  const update = { $case: 'failed', value: { code: 4002, message: 'it is protected by a password' } } as const
  expect(await request.jobs.reportJob({ jobId, revision: 1, update }, internal)).toEqual({ needed: false })
  const status = { state: 'PRESENTATION_STATE_FAILED', progress: 5, code: 4002 }
  expect((await read(presentationId))?.status).toEqual({ ...status, reason: 'it is protected by a password' })
  const { presentation } = await request.presentations.findPublicPresentation({ presentationId }, guest)
  expect(presentation?.status).toEqual({ ...status, reason: '' })
})

describe('permissions', () => {
  test('the organisation and the system read all fields of a presentation', async () => {
    const { presentationId } = await create()
    expect((await read(presentationId, system))?.presentationId).toBe(presentationId)
    await expect(read(presentationId, foreignCaller)).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    await expect(read(presentationId, guest)).rejects.toMatchObject({ kind: 'unauthenticated' })
    for (const id of ['', 'x', '0', '9'.repeat(30)]) await expect(read(id)).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
  })
  test('only the system writes presentations', async () => {
    const { presentationId } = await create()
    const change = { presentation: Presentation.fromPartial({ presentationId, title: 'x' }), updateMask: ['title'], timings: [] }
    for (const call of [owner, foreignCaller]) {
      await expect(create({}, call)).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
      await expect(request.presentations.updatePresentation(change, call)).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
      await expect(request.presentations.deletePresentation({ presentationId }, call)).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
    }
    expect((await read(presentationId))?.title).toBe('Launch')
  })
  test('only services add files, and only to presentations of the organisation of the file', async () => {
    const { presentationId } = await create()
    await expect(add({}, system)).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
    await expect(add({ presentationId, organisationId: '2' })).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    await expect(add({ presentationId: 'x' })).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    await expect(add({ organisationId: '99' })).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
    await expect(add({ organisationId: '4' })).rejects.toMatchObject({ reason: 'ORGANISATION_INACTIVE' })
    await expect(add({ filename: '', userId: 'x', sourceObject: '', sourceBytes: 0 })).rejects.toMatchObject({
      fields: ['filename', 'user_id', 'source_object', 'source_bytes'].map((field) => ({ field })),
    })
  })
  test('only services request policies', async () => {
    await expect(request.policies.getPresentationPolicy({ presentationId: '1' }, system)).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
  })
})

test('references must exist, and every invalid field is reported at once', async () => {
  await expect(create({ organisationId: '99' })).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
  await expect(create({ organisationId: '4' })).rejects.toMatchObject({ reason: 'ORGANISATION_INACTIVE' })
  await expect(create({ videoId: '5' })).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  await expect(create({ organisationId: '', title: '', videoId: 'x' })).rejects.toMatchObject({
    fields: ['organisation_id', 'title', 'video_id'].map((field) => ({ field })),
  })
  expect(await create()).toMatchObject({ userId: '71', status: { state: 'PRESENTATION_STATE_AWAITING_TIMINGS', code: 1999 } })
})

test.each([
  [{ jobId: '1' }],
  [{ prefix: '' }],
  [{ prefix: 'slides/' }],
  [{ slides: [] }],
  [{ documentPath: '' }],
  [{ slides: [{ path: '', thumbnailPath: 't', width: 1, height: 1 }] }],
])('rejects a report of invalid slides (%j)', async (invalid) => {
  const { presentationId, jobId } = await add()
  await expect(reportSlides(jobId, presentationId, invalid)).rejects.toMatchObject({ kind: 'invalid' })
  expect((await read(presentationId))?.slides).toEqual([])
})

test('a file that is accepted while encoding is down reaches it once, even if the catalogue restarts', async () => {
  await encoding.stop()
  const { jobId } = await add()
  request.close()
  await service.stop()
  await encoding.start()
  service = await startCatalogue(config, testLog)
  request = clients(service.address)
  await waitFor(() => encoding.state.slideJobs.has(jobId))
  await waitFor(async () => (await database.messages()).length === 0)
})
