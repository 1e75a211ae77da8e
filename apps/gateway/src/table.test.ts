// Faults: A6
import { describe, expect, test } from '@jest/globals'
import { notFound } from '@vitascope/errors'
import type { UserKind } from '@vitascope/grpc'
import { Media } from '@vitascope/proto/catalogue/v1/media'
import { Setting } from '@vitascope/proto/catalogue/v1/setting'
import { Theme } from '@vitascope/proto/catalogue/v1/theme'
import { Video, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { getApiKey } from './api/api-key/api-key-routes.ts'
import { deleteMedia, updateMedia } from './api/media/media-routes.ts'
import { uploadVideo, uploadVideoByScript } from './api/video/upload-routes.ts'
import { getVideo, listVideosOfOrganisation } from './api/video/video-routes.ts'
import type { Services } from './clients/services.ts'
import { Reply } from './server/route/reply.ts'
import type { Context, Route } from './server/route/route.ts'
import { inputSchemas } from './server/routing/input.ts'
import { routes } from './table.ts'

type RecordedCall = { method: string; request: Record<string, unknown> }
type Responses = Record<string, (request: Record<string, unknown>) => unknown>

/** Services with the given responses that record their requests. */
function services(responses: Responses, calls: RecordedCall[] = []): Services {
  const nouns = [
    'organisations',
    'users',
    'apiKeys',
    'accessList',
    'videos',
    'media',
    'jobs',
    'ids',
    'encodingJobs',
    'queueJobs',
    'metadata',
    'tags',
    'folders',
    'settings',
    'themes',
    'security',
  ]
  const noun = new Proxy(
    {},
    {
      get: (_, method: string) => async (request: Record<string, unknown>) => {
        calls.push({ method, request })
        const response = responses[method]
        if (!response) throw new Error(`${method} was not expected to be called`)
        return response(request)
      },
    },
  )
  // The fake has each method that a route may call, under its real name.
  return Object.fromEntries(nouns.map((name) => [name, noun])) as unknown as Services
}

function buildContext(by: UserKind | 'guest', responses: Responses) {
  const calls: RecordedCall[] = []
  const organisationId = by === 'system' ? '1' : '2'
  const user = { keyId: '5', userId: '7', organisationId }
  const caller =
    by === 'guest' ? { kind: by } : { kind: 'user' as const, ...user, userType: by, resources: new Set<string>(), key: 'vs_own' }
  const principal = by === 'guest' ? { kind: by } : { kind: 'user' as const, ...user, userType: by }
  const context: Context = {
    caller,
    call: { principal, requestId: 'r', signal: new AbortController().signal },
    services: services(responses, calls),
    publicUrl: 'https://video.example.org',
    mediaUrl: 'https://video.example.org',
    checkSource: (url) => (url.startsWith('http') ? [] : ['must be an http or https URL']),
    countPasswordAttempt: async () => {},
    countSignIn: async () => {},
    countSubmission: async () => {},
    admitEvents: (_events, _sent, send) => send(new Set()),
    client: { address: '203.0.113.1', userAgent: 'test' },
  }
  return { context, calls }
}

/** Calls a route with input parsed by its own schemas, as the router does. */
async function callRoute(
  route: Route,
  input: { params?: unknown; query?: unknown; payload?: unknown },
  context: Context,
): Promise<unknown> {
  const { params, query, payload } = inputSchemas(route)
  return await route.handle(
    {
      params: params.parse(input.params ?? {}),
      query: query.parse(input.query ?? {}),
      // The payload has the type of the handler's own schema, as in the router.
      payload: payload.parse(input.payload ?? {}) as Record<string, unknown>,
    },
    context,
  )
}

const status = { state: VideoState.VIDEO_STATE_ENCODING, progress: 5, code: 2, message: '' }
const video = Video.create({ videoId: '10', organisationId: '2', descriptionPrivate: 'private', enabled: true, status })

test('every route of the table has a section, a summary and a resource of its area', () => {
  for (const { section, summary, resource, paths } of routes) {
    expect([section, summary, paths[0]].every((text) => text !== '')).toBe(true)
    expect(resource).toMatch(/^[a-z-]+::(get|post|put|patch|delete)$/)
  }
})

describe('reading a video', () => {
  const responses: Responses = { getVideo: () => ({ video }), findPublicVideo: () => ({ video: { ...video, descriptionPrivate: '' } }) }

  test('a guest receives the public fields', async () => {
    const { context, calls } = buildContext('guest', responses)
    expect(await callRoute(getVideo, { params: { videoId: '10' } }, context)).not.toHaveProperty('description_private')
    expect(calls.map(({ method }) => method)).toEqual(['findPublicVideo'])
  })

  test('a key of its organisation also receives the private description', async () => {
    const { context } = buildContext('uploader', responses)
    expect(await callRoute(getVideo, { params: { videoId: '10' } }, context)).toMatchObject({ body: { description_private: 'private' } })
  })

  test('a key of another organisation receives the public fields', async () => {
    const { context } = buildContext('standard', {
      ...responses,
      getVideo: () => {
        throw notFound('video', '10')
      },
    })
    expect(await callRoute(getVideo, { params: { videoId: '10' } }, context)).not.toHaveProperty('body.description_private')
  })

  test('an error other than "not found" is returned instead of the public fields', async () => {
    const { context } = buildContext('standard', {
      ...responses,
      getVideo: () => {
        throw new Error('broken')
      },
    })
    await expect(callRoute(getVideo, { params: { videoId: '10' } }, context)).rejects.toThrow('broken')
  })

  test('the player settings are included if requested', async () => {
    const setting = Setting.create({ settingId: '3', allowDownload: true })
    const { context } = buildContext('guest', {
      ...responses,
      findVideoSetting: () => ({ setting, theme: Theme.create({ themeId: '4', textColour: '#112233' }) }),
    })
    const read = (query: object) => callRoute(getVideo, { params: { videoId: '10' }, query }, context)
    expect(await read({ player_settings: 'true' })).toMatchObject({ player_settings: { id: '3', allow_download: '1', password: '' } })
    expect(await read({ player_settings: 'true' })).toMatchObject({ theme: { id: '4', text_colour: '#112233', icon_colour: '' } })
    expect(await read({ player_settings: 'false' })).not.toHaveProperty('player_settings')
    await expect(read({ player_settings: '1' })).rejects.toThrow()
    const without = buildContext('guest', { ...responses, findVideoSetting: () => ({}) })
    const query = { player_settings: 'true' }
    expect(await callRoute(getVideo, { params: { videoId: '10' }, query }, without.context)).toHaveProperty('player_settings', null)
  })
})

describe('listing the videos of an organisation', () => {
  const responses: Responses = { listVideos: () => ({ videos: [video], nextPageToken: 'more', totalSize: 0 }) }

  test('has a next link with the requested order', async () => {
    const { context, calls } = buildContext('uploader', responses)
    const params = { organisationId: '2', orderBy: 'name', orderType: 'asc' }
    const reply = await callRoute(listVideosOfOrganisation, { params, query: { limit: '1' } }, context)
    expect(reply).toBeInstanceOf(Reply)
    expect(reply).toMatchObject({
      headers: { Link: '<https://video.example.org/v2/video/organisation/2/name/asc?start=2&limit=1&cursor=more>; rel="next"' },
    })
    expect(calls[0]?.request).toMatchObject({ organisationId: '2', order: 'VIDEO_ORDER_TITLE', descending: false, pageSize: 1, skip: 0 })
  })

  test.each([['3'], ['abc']])('rejects organisation %s before it calls a service', async (organisationId) => {
    const { context, calls } = buildContext('standard', responses)
    await expect(callRoute(listVideosOfOrganisation, { params: { organisationId } }, context)).rejects.toMatchObject({
      reason: 'FOREIGN_ORGANISATION',
    })
    expect(calls).toEqual([])
  })
})

describe('uploading by URL', () => {
  const responses: Responses = {
    uploadVideo: () => ({ videoId: '10', mediaId: '11', jobId: '3', status }),
    replaceSource: () => ({ videoId: '12', jobId: '4', status }),
  }
  const payload = { url: 'https://media.example.org/a.mp4', organisation_id: '2' }

  test('creates a video in the state encoding', async () => {
    const { context, calls } = buildContext('uploader', responses)
    expect(
      await callRoute(uploadVideo, { payload: { ...payload, tags: '["a"]', notify: 'false', published_width: '640' } }, context),
    ).toEqual({
      id: '10',
      status: { status: 'encoding', progress: 5, code: 2 },
      job_id: '3',
      action: 'new video',
    })
    expect(calls[0]?.request).toMatchObject({
      sourceUrl: payload.url,
      tags: ['a'],
      notify: false,
      publishedWidth: 640,
      startsWaiting: false,
      lowPriority: false,
    })
  })

  test('passes low priority to the catalogue', async () => {
    const { context, calls } = buildContext('uploader', responses)
    await callRoute(uploadVideo, { payload: { ...payload, priority: 'low' } }, context)
    expect(calls[0]?.request).toMatchObject({ lowPriority: true })
  })

  test('with a media id replaces the source and ignores the other fields', async () => {
    const { context, calls } = buildContext('uploader', responses)
    const response = await callRoute(uploadVideo, { payload: { ...payload, media_id: '11', name: 'ignored' } }, context)
    expect(response).toMatchObject({ id: '12', job_id: '4', action: 'replace' })
    expect(calls).toEqual([
      { method: 'replaceSource', request: { mediaId: '11', sourceUrl: payload.url, organisationId: '2', startsWaiting: false } },
    ])
  })

  test('rejects an invalid URL under the name of its field', async () => {
    const { context } = buildContext('uploader', responses)
    await expect(callRoute(uploadVideo, { payload: { ...payload, url: 'file:///etc/passwd' } }, context)).rejects.toMatchObject({
      kind: 'invalid',
      fields: [{ field: 'url' }],
    })
  })

  test('rejects another organisation before it validates the URL', async () => {
    const { context } = buildContext('uploader', responses)
    await expect(callRoute(uploadVideo, { payload: { ...payload, organisation_id: '3', url: 'x:' } }, context)).rejects.toMatchObject({
      reason: 'FOREIGN_ORGANISATION',
    })
  })

  test.each([[{}], [{ media_id: '11' }]])('by script starts as waiting for encoding (%j)', async (more) => {
    const { context, calls } = buildContext('system', responses)
    const query = { data: JSON.stringify({ ...payload, ...more }), callback: 'a.b' }
    const reply = await callRoute(uploadVideoByScript, { query }, context)
    const id = calls[0]?.method === 'replaceSource' ? '12' : '10'
    expect(reply).toMatchObject({ body: `/**/a.b({"id":"${id}","code":1,"message":"waiting for encoding"});` })
    expect(calls[0]?.request).toMatchObject({ startsWaiting: true })
  })
})

describe('changing a media', () => {
  const responses: Responses = {
    updateMedia: () => ({ media: Media.create({ mediaId: '11', title: 'New', tokenRequired: true, gifStatus: 1 }) }),
    replaceSource: () => ({ videoId: '12', jobId: '4', status }),
  }
  const change = (payload: object) => {
    const { context, calls } = buildContext('system', responses)
    return { calls, response: callRoute(updateMedia, { params: { mediaId: '11' }, payload }, context) }
  }

  test('returns the changed details', async () => {
    const { response, calls } = change({ title: 'New', token_required_platform: '1' })
    expect(await response).toEqual({
      media_id: '11',
      status: { action: 'update_data', success: true, data: { title: 'New', token_required_platform: true } },
    })
    expect(calls[0]?.request['updateMask']).toEqual(['title', 'token_required'])
  })

  test('with a URL replaces the source and returns the job id in a header', async () => {
    const uri = 'https://media.example.org/b.mp4'
    const body = { media_id: '11', status: { action: 'replace_video', success: true, uri } }
    expect(await change({ uri }).response).toMatchObject({ body, headers: { 'X-Job-Id': '4' } })
  })

  test.each([[{ uri: 'https://media.example.org/b.mp4', title: 'x' }], [{}], [{ uri: 'ftp://media.example.org/b.mp4' }]])(
    'rejects %j without calling a service',
    async (payload) => {
      const { response, calls } = change(payload)
      await expect(response).rejects.toMatchObject({ kind: 'invalid' })
      expect(calls).toEqual([])
    },
  )
})

describe('deleting a media', () => {
  const responses: Responses = {
    deleteMedia: () => ({ deleteTime: new Date('2026-03-01T09:05:03Z') }),
    getUser: ({ userId }) => {
      if (userId !== '9') throw notFound('user', String(userId))
      return {}
    },
  }
  const remove = (by: UserKind, input: { query?: object; payload?: object }) => {
    const { context, calls } = buildContext(by, responses)
    return { calls, response: callRoute(deleteMedia, input, context) }
  }

  test('by a user is done on its own behalf', async () => {
    const { response, calls } = remove('uploader', { query: { media_id: '11', user_id: '99', notes: 'old' } })
    expect(await response).toEqual({ id: '11', result: true, deleted: '2026-03-01 09:05:03' })
    expect(calls[0]?.request).toEqual({ mediaId: '11', userId: '7', notes: 'old' })
  })

  test('by a system key is done on behalf of the user in the query or payload', async () => {
    const { response, calls } = remove('system', { query: { media_id: '11' }, payload: { user_id: 9 } })
    await response
    expect(calls.at(-1)).toEqual({ method: 'deleteMedia', request: { mediaId: '11', userId: '9', notes: '' } })
  })

  test('requires an existing user', async () => {
    const { response, calls } = remove('system', { query: { media_id: '11', user_id: '98' } })
    await expect(response).rejects.toMatchObject({ kind: 'not_found', reason: 'USER_NOT_FOUND' })
    expect(calls.map(({ method }) => method)).toEqual(['getUser'])
  })

  test.each([
    ['system' as const, { query: { media_id: '11' } }, ['user_id']],
    ['system' as const, {}, ['media_id', 'user_id']],
    ['uploader' as const, {}, ['media_id']],
    ['uploader' as const, { query: { media_id: '11' }, payload: { media_id: '12' } }, ['media_id']],
  ])('by a %s with %j is rejected for the fields %j', async (by, input, fields) => {
    const { response, calls } = remove(by, input)
    await expect(response).rejects.toMatchObject({ kind: 'invalid', fields: fields.map((field) => ({ field })) })
    expect(calls).toEqual([])
  })
})

describe('reading a key', () => {
  const responses: Responses = { getApiKey: ({ key }) => ({ apiKey: { value: key, resources: [], organisationId: '2', userId: '7' } }) }

  test('a user can read the key that it calls with', async () => {
    const { context } = buildContext('uploader', responses)
    expect(await callRoute(getApiKey, { params: { apiKey: 'vs_own' } }, context)).toEqual({
      acl: [],
      key: 'vs_own',
      organisation_id: '2',
      user_id: '7',
    })
  })

  test('a user cannot read another key, whether or not it exists', async () => {
    const { context, calls } = buildContext('standard', responses)
    await expect(callRoute(getApiKey, { params: { apiKey: 'vs_other' } }, context)).rejects.toMatchObject({
      kind: 'forbidden',
      reason: 'OWN_KEY_ONLY',
    })
    expect(calls).toEqual([])
  })

  test('a system key can read every key', async () => {
    const { context } = buildContext('system', responses)
    expect(await callRoute(getApiKey, { params: { apiKey: 'vs_other' } }, context)).toMatchObject({ key: 'vs_other' })
  })
})
