import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Call } from '@vitascope/grpc'
import { JobState, ListJobsRequest } from '@vitascope/proto/catalogue/v1/job'
import { Media } from '@vitascope/proto/catalogue/v1/media'
import { ApplyOrganisationRequest } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { ListVideosRequest, Video, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { verifyVideoToken } from '@vitascope/security'
import { waitFor } from '@vitascope/testing'
import { buildRenditionSet } from './builders.ts'
import { catalogueUnderTest, type Fixture, foreignCaller, guest, internal, owner, system, tokenKeys, user } from './catalogue-under-test.ts'

const fixture = catalogueUnderTest()
const { upload, report, publish, play, update } = fixture
let database: Fixture['database']
let service: Fixture['service']
let encoding: Fixture['encoding']
let auth: Fixture['auth']
let send: Fixture['clients']
beforeAll(() => {
  ;({ database, service, encoding, auth, clients: send } = fixture.now())
})

test('a video is uploaded, encoded, visible to every caller and delivered', async () => {
  const { videoId, mediaId, jobId, status } = await upload({ tags: ['moon', 'moon', 'rocket'], descriptionPrivate: 'for us' })
  expect(status).toEqual({ state: VideoState.VIDEO_STATE_ENCODING, progress: 5, code: 2, message: '' })
  await waitFor(() => encoding.state.jobs.get(jobId))
  expect(encoding.state.jobs.get(jobId)).toEqual({ jobId, mediaId, organisationId: '1', sourceUrl: 'https://example.org/launch.mp4' })
  expect(await report(jobId, 1, { $case: 'progress', value: { percent: 60 } })).toEqual({ needed: true })
  expect((await send.videos.getVideo({ videoId }, owner)).video?.status?.progress).toBe(60)
  await expect(send.policies.getPlaybackPolicy({ videoId }, internal)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  await publish(jobId)
  const { video } = await send.videos.findPublicVideo({ videoId, token: '' }, guest)
  expect(video).toMatchObject({
    title: 'launch.mp4',
    mediaTitle: 'launch.mp4',
    tags: ['moon', 'rocket'],
    descriptionPrivate: '',
    creatorId: '71',
    status: { state: VideoState.VIDEO_STATE_OK, progress: 100, code: 2000 },
    renditions: buildRenditionSet(jobId),
  })
  expect(await send.policies.getPlaybackPolicy({ videoId }, internal)).toMatchObject({
    sets: [{ version: video?.deliveryVersion, prefix: `renditions/${jobId}` }],
    tokenRequired: false,
  })
  expect((await send.jobs.getJob({ jobId }, owner)).job).toMatchObject({ state: 'JOB_STATE_OK', progress: 100, videoId, mediaId })
})

test('an upload that waits for encoding has the state waiting until work begins', async () => {
  const { videoId, jobId, status } = await upload({ startsWaiting: true })
  expect(status).toMatchObject({ state: VideoState.VIDEO_STATE_WAITING, progress: 0, code: 1 })
  await report(jobId, 1, { $case: 'progress', value: { percent: 5 } })
  expect((await send.videos.getVideo({ videoId }, owner)).video?.status).toMatchObject({ state: VideoState.VIDEO_STATE_ENCODING, code: 2 })
})

describe('permissions', () => {
  test('a record of another organisation returns the same error as a missing one, for every call', async () => {
    const { videoId, mediaId, jobId } = await play()
    const createToken = (id: { videoId: string }, call: Call) =>
      send.videos.createVideoToken({ ...id, expiresInSeconds: 60, address: '' }, call)
    const calls = (id: { videoId: string; mediaId: string; jobId: string }, call: Call) => [
      // Services of the platform may create tokens.
      ...(call === internal ? [] : [() => createToken(id, call)]),
      () => send.videos.getVideo(id, call),
      () => update(id.videoId, { title: 'mine' }, ['title'], call),
      () => send.videos.deleteVideo(id, call),
      () => send.media.getMedia(id, call),
      () => send.media.updateMedia({ media: Media.fromPartial({ ...id, title: 'mine' }), updateMask: ['title'] }, call),
      () => send.media.replaceSource({ ...id, sourceUrl: 'https://example.org/x', organisationId: '', startsWaiting: false }, call),
      () => send.media.publishMedia(id, call),
      () => send.media.deleteMedia({ ...id, userId: '', notes: '' }, call),
      () => send.jobs.getJob(id, call),
      () => send.jobs.cancelJob(id, call),
      () => send.jobs.retryJob(id, call),
    ]
    const missing = { videoId: '8123456789012345678', mediaId: '8123456789012345679', jobId: '8123456' }
    const outcome = async (run: () => Promise<unknown>): Promise<unknown[]> =>
      run().then(
        () => ['done'],
        (e) => [e.kind, e.reason, e.message.replaceAll(/\d/g, '')],
      )
    const foreign = await Promise.all(calls({ videoId, mediaId, jobId }, foreignCaller).map(outcome))
    const unknown = await Promise.all(calls(missing, foreignCaller).map(outcome))
    expect(foreign).toEqual(unknown)
    expect(foreign.every(([kind]) => kind === 'not_found')).toBe(true)
    expect((await send.videos.getVideo({ videoId }, owner)).video).toMatchObject({ title: 'launch.mp4' })
    expect((await send.videos.getVideo({ videoId }, system)).video).toMatchObject({ title: 'launch.mp4' })
    for (const error of await Promise.all(calls({ videoId, mediaId, jobId }, guest).map(outcome))) {
      expect(error).toEqual(['unauthenticated', 'KEY_REQUIRED', expect.any(String)])
    }
    for (const error of await Promise.all(calls({ videoId, mediaId, jobId }, internal).map(outcome))) {
      expect(error).toEqual(['forbidden', 'USERS_ONLY', expect.any(String)])
    }
    expect((await createToken({ videoId }, internal)).token).not.toBe('')
  })

  test('users can list only the jobs of their own organisation', async () => {
    const { jobId, mediaId } = await upload()
    await report(jobId, 1, { $case: 'progress', value: { percent: 40 } })
    const list = (overrides: Partial<ListJobsRequest>, call: Call) => send.jobs.listJobs(ListJobsRequest.fromPartial(overrides), call)
    const listIds = async (overrides: Partial<ListJobsRequest>, call: Call) => (await list(overrides, call)).jobs.map((job) => job.jobId)
    expect(await listIds({ mediaId }, owner)).toEqual([jobId])
    expect(await listIds({ mediaId }, foreignCaller)).toEqual([])
    expect(await listIds({ mediaId, states: [JobState.JOB_STATE_RUNNING] }, system)).toEqual([jobId])
    expect(await listIds({ mediaId, states: [JobState.JOB_STATE_FAILED] }, system)).toEqual([])
    expect((await list({ organisationId: '1' }, system)).running).toBeGreaterThan(0)
    await expect(list({ organisationId: '1' }, foreignCaller)).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
    await expect(list({ organisationId: '99' }, system)).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
    const bad = { mediaId: 'x', states: [JobState.JOB_STATE_UNSPECIFIED] }
    await expect(list(bad, owner)).rejects.toMatchObject({ fields: [{ field: 'media_id' }, { field: 'states' }] })
    await expect(list({}, guest)).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
    await expect(list({}, internal)).rejects.toMatchObject({ reason: 'USERS_ONLY' })
  })

  test.each([
    ['users', owner],
    ['system users', system],
    ['guests', guest],
  ])('internal calls are rejected for %s', async (_, call) => {
    const expectedError = { kind: 'forbidden', reason: 'SERVICE_ONLY' }
    await expect(send.jobs.reportJob({ jobId: '1', revision: 1, update: undefined }, call)).rejects.toMatchObject(expectedError)
    await expect(send.jobs.checkJobs({ jobIds: [] }, call)).rejects.toMatchObject(expectedError)
    await expect(send.jobs.checkSets({ jobIds: [] }, call)).rejects.toMatchObject(expectedError)
    await expect(send.policies.getPlaybackPolicy({ videoId: '1' }, call)).rejects.toMatchObject(expectedError)
    const organisation = ApplyOrganisationRequest.fromPartial({ organisationId: '1', revision: 99, active: false })
    await expect(send.organisationReplica.applyOrganisation(organisation, call)).rejects.toMatchObject(expectedError)
  })

  test('a user uploads only to its own organisation, and system users to an existing and active one', async () => {
    await expect(upload({ organisationId: '2' })).rejects.toMatchObject({ kind: 'forbidden', reason: 'FOREIGN_ORGANISATION' })
    await expect(upload({ organisationId: '' }, system)).rejects.toMatchObject({ fields: [{ field: 'organisation_id' }] })
    await expect(upload({ organisationId: '99' }, system)).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
    await expect(upload({ organisationId: 'x' }, system)).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
    await expect(upload({ organisationId: '4' }, system)).rejects.toMatchObject({ reason: 'ORGANISATION_INACTIVE' })
    const { videoId } = await upload({ organisationId: '3' }, system)
    await upload({ organisationId: '3' }, system)
    expect(auth.requested.filter((id) => id === '3')).toHaveLength(1)
    expect((await send.videos.getVideo({ videoId }, user('3'))).video?.organisationId).toBe('3')
  })

  test('users can list only the videos of their own organisation', async () => {
    await upload({ organisationId: '2' }, foreignCaller)
    const list = (overrides: Partial<ListVideosRequest>, call: Call) =>
      send.videos.listVideos(ListVideosRequest.fromPartial({ pageSize: 1000, count: true, ...overrides }), call)
    const { videos, totalSize } = await list({}, foreignCaller)
    expect([videos.length, totalSize]).toEqual([1, 1])
    expect((await list({ organisationId: '2' }, system)).totalSize).toBe(1)
    expect((await list({}, system)).totalSize).toBeGreaterThan(2)
    expect((await list({ state: VideoState.VIDEO_STATE_OK }, foreignCaller)).totalSize).toBe(0)
    const encoded = await list({ encoded: true }, foreignCaller)
    expect([encoded.videos, encoded.encodedVideos.map((bytes) => Video.decode(bytes))]).toEqual([[], videos])
    await expect(list({ organisationId: '1' }, foreignCaller)).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
    await expect(list({ organisationId: '99' }, system)).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
    await expect(list({ skip: -1 }, foreignCaller)).rejects.toMatchObject({ fields: [{ field: 'skip' }] })
    await expect(list({ tag: 'a\0' }, foreignCaller)).rejects.toMatchObject({ fields: [{ field: 'tag' }] })
    await expect(list({}, guest)).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
  })
})

test.each(['', '0', '-1', '01', '1.5', '1e3', '0x10', ' 5', '9223372036854775808', "1'--", 'a\0b', '５'])(
  'the id %j is not found',
  async (id) => {
    const key = { videoId: id, mediaId: id, jobId: id }
    await expect(send.videos.findPublicVideo({ ...key, token: '' }, guest)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(send.videos.getVideo(key, owner)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(send.videos.deleteVideo(key, owner)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(update(id, {}, ['title'])).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(send.media.getMedia(key, owner)).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    await expect(send.jobs.getJob(key, owner)).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
    await expect(send.policies.getPlaybackPolicy(key, internal)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(report(id, 1, { $case: 'progress', value: { percent: 5 } })).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
    expect(await send.jobs.checkJobs({ jobIds: [id] }, internal)).toEqual({ neededJobIds: [] })
  },
)

test('every invalid field of an upload is reported at once', async () => {
  const invalid = {
    sourceUrl: 'ftp://example.org/a',
    name: 'a\0',
    description: 'x'.repeat(5_001),
    tags: ['a b'],
    publishedWidth: 0,
    settingId: 'x',
  }
  const error = await upload(invalid).catch((e) => e)
  expect(error.fields.map(({ field }: { field: string }) => field)).toEqual([
    ...['source_url', 'name', 'description', 'tags[0]', 'published_width', 'setting_id'],
  ])
})

describe('an update', () => {
  test('is stored, returned and attributed to its author', async () => {
    const { videoId, mediaId } = await play()
    const before = (await send.videos.getVideo({ videoId }, owner)).video
    const fields = { title: 'Landing', mediaTitle: 'The landing', sharing: { text: 'look', embedWithinSocial: true } }
    const { video } = await update(videoId, fields, ['title', 'media_title', 'sharing.text'], user('1', 'standard'))
    expect(video).toMatchObject({ title: 'Landing', mediaTitle: 'The landing', sharing: { text: 'look', embedWithinSocial: false } })
    expect(video?.updateTime?.getTime()).toBeGreaterThan(before?.updateTime?.getTime() ?? Number.NaN)
    expect((await send.media.getMedia({ mediaId }, owner)).media).toMatchObject({
      title: 'The landing',
      encodedFilenames: ['h264_100.mp4'],
    })
    expect((await send.videos.getVideo({ videoId }, owner)).video).toEqual(video)
  })
  test('of a read-only field is rejected', async () => {
    const { videoId } = await upload()
    for (const path of ['organisation_id', 'status', 'creator_id', 'create_time', 'renditions', 'delivery_version', 'ip_restricted']) {
      await expect(update(videoId, { organisationId: '2' }, [path])).rejects.toMatchObject({ fields: [{ field: 'update_mask' }] })
    }
  })
  test('without fields changes nothing', async () => {
    const { videoId } = await upload()
    const { video } = await send.videos.getVideo({ videoId }, owner)
    expect(await update(videoId, { title: 'x' }, [])).toEqual({ video })
  })
  test('hides a disabled video from all other callers immediately', async () => {
    const { videoId } = await play()
    await update(videoId, { enabled: false }, ['enabled'])
    await expect(send.videos.findPublicVideo({ videoId, token: '' }, foreignCaller)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(send.policies.getPlaybackPolicy({ videoId }, internal)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    expect((await send.videos.getVideo({ videoId }, owner)).video?.enabled).toBe(false)
  })
  test('sets the expiry of a video, with a message for viewers', async () => {
    const { videoId } = await play()
    const contentExpiry = { expireTime: new Date(Date.now() - 1000), message: 'come to the cinema' }
    await update(videoId, { contentExpiry }, ['content_expiry'])
    await expect(send.videos.findPublicVideo({ videoId, token: '' }, guest)).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'VIDEO_EXPIRED',
      message: 'come to the cinema',
    })
  })
  test('of an organisation to inactive hides its videos', async () => {
    const { videoId } = await upload({ organisationId: '5' }, system)
    const organisation = ApplyOrganisationRequest.fromPartial({ organisationId: '5' })
    await send.organisationReplica.applyOrganisation({ ...organisation, revision: 2, active: false }, internal)
    await expect(send.videos.findPublicVideo({ videoId, token: '' }, guest)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await send.organisationReplica.applyOrganisation({ ...organisation, revision: 3, active: true }, internal)
    expect((await send.videos.findPublicVideo({ videoId, token: '' }, guest)).video?.videoId).toBe(videoId)
  })
})

describe('a token', () => {
  const opens = (token: string, videoId: string) => verifyVideoToken(token, { videoId, address: '192.0.2.1', now: new Date() }, tokenKeys)
  test('grants access to its video, and a retry returns the same token, which is stored encrypted', async () => {
    const { videoId } = await play()
    const call = { ...owner, idempotency: { key: '1'.repeat(64), fingerprint: '2'.repeat(64) } }
    const request = { videoId, expiresInSeconds: 60, address: '192.0.2.1' }
    const first = await send.videos.createVideoToken(request, call)
    expect(await opens(first.token, videoId)).toEqual({ allowed: true, expires: first.expireTime })
    expect(await send.videos.createVideoToken(request, call)).toEqual(first)
    const [stored] = await database.db.query<{ response: Buffer }>('select response from idempotency where key = $1', [
      call.idempotency.key,
    ])
    expect(stored?.response.toString('latin1')).not.toContain(first.token)
  })
  test('is rejected for invalid parameters', async () => {
    const { videoId } = await upload()
    const request = { videoId, expiresInSeconds: 86_401, address: '300.0.0.1' }
    await expect(send.videos.createVideoToken(request, owner)).rejects.toMatchObject({
      fields: [{ field: 'expires_in_seconds' }, { field: 'address' }],
    })
  })
})

describe('a media', () => {
  test('is deleted by a system key only on behalf of a user', async () => {
    const { mediaId, videoId, jobId } = await upload()
    await expect(send.media.deleteMedia({ mediaId, userId: '', notes: '' }, system)).rejects.toMatchObject({
      fields: [{ field: 'user_id' }],
    })
    const { deleteTime } = await send.media.deleteMedia({ mediaId, userId: '71', notes: 'on request' }, system)
    expect(deleteTime).toBeInstanceOf(Date)
    await waitFor(() => encoding.state.cancelled.has(jobId))
    await expect(send.videos.getVideo({ videoId }, owner)).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    expect(await publish(jobId)).toEqual({ needed: false })
    expect(await send.jobs.checkJobs({ jobIds: [jobId] }, internal)).toEqual({ neededJobIds: [] })
    expect(await database.db.query('select user_id, notes from deletion where media_id = $1', [mediaId])).toEqual([
      { user_id: '71', notes: 'on request' },
    ])
  })
  test('accepts a replacement from its owner only', async () => {
    const { mediaId, videoId } = await play()
    const replace = (organisationId: string, call: Call) =>
      send.media.replaceSource({ mediaId, sourceUrl: 'https://example.org/b.mp4', organisationId, startsWaiting: false }, call)
    await expect(replace('2', system)).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    await expect(replace('2', owner)).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    expect(await replace('1', system)).toMatchObject({ videoId, status: { progress: 5, code: 2 } })
  })
})

test('every caller can request ids, and system users random ones', async () => {
  expect((await send.ids.nextId({}, guest)).id).toMatch(/^\d+$/)
  expect((await send.ids.randomId({ length: 7 }, system)).id).toMatch(/^[A-Za-z0-9]{7}$/)
  await expect(send.ids.randomId({ length: 11 }, system)).rejects.toMatchObject({ fields: [{ field: 'length' }] })
  await expect(send.ids.randomId({ length: 7 }, owner)).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
})

test('the metrics are served', async () => {
  const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text()
  expect(text).toMatch(/vitascope_catalogue_active_jobs\{service="catalogue"\} \d+/)
  expect(text).toContain('vitascope_grpc_call_duration_seconds_count')
})
