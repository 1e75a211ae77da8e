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
import { type Context, Reply, type Route } from './server/route/route.ts'
import { inputSchemas } from './server/routing/input.ts'
import { routes } from './table.ts'

type Asked = { method: string; request: Record<string, unknown> }
type Answers = Record<string, (request: Record<string, unknown>) => unknown>

/** Services with the given responses that record their requests. */
function services(answers: Answers, requested: Asked[] = []): Services {
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
        requested.push({ method, request })
        const answer = answers[method]
        if (!answer) throw new Error(`${method} was not to be called`)
        return answer(request)
      },
    },
  )
  // The fake has each method that a route may call, under its real name.
  return Object.fromEntries(nouns.map((name) => [name, noun])) as unknown as Services
}

function requested(by: UserKind | 'guest', answers: Answers) {
  const calls: Asked[] = []
  const organisationId = by === 'system' ? '1' : '2'
  const user = { keyId: '5', userId: '7', organisationId }
  const caller =
    by === 'guest' ? { kind: by } : { kind: 'user' as const, ...user, userType: by, resources: new Set<string>(), key: 'vs_own' }
  const principal = by === 'guest' ? { kind: by } : { kind: 'user' as const, ...user, userType: by }
  const context: Context = {
    caller,
    call: { principal, requestId: 'r', signal: new AbortController().signal },
    services: services(answers, calls),
    publicUrl: 'https://video.example.org',
    checkSource: (url) => (url.startsWith('http') ? [] : ['must be an http or https URL']),
    takePasswordTry: async () => {},
    takeSubmission: async () => {},
    admitEvents: (_events, _sent, send) => send(new Set()),
    from: { address: '203.0.113.1', userAgent: 'test' },
  }
  return { context, calls }
}

/** Calls a route with input parsed by its own schemas, as the router does. */
async function ask(route: Route, came: { params?: unknown; query?: unknown; payload?: unknown }, context: Context): Promise<unknown> {
  const { params, query, payload } = inputSchemas(route)
  return await route.handle(
    {
      params: params.parse(came.params ?? {}),
      query: query.parse(came.query ?? {}),
      // The payload has the type of the handler's own schema, as in the router.
      payload: payload.parse(came.payload ?? {}) as Record<string, unknown>,
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
  const answers: Answers = { getVideo: () => ({ video }), findPublicVideo: () => ({ video: { ...video, descriptionPrivate: '' } }) }

  test('a guest sees the public fields', async () => {
    const { context, calls } = requested('guest', answers)
    expect(await ask(getVideo, { params: { videoId: '10' } }, context)).not.toHaveProperty('description_private')
    expect(calls.map(({ method }) => method)).toEqual(['findPublicVideo'])
  })

  test('its organisation sees the private description too', async () => {
    const { context } = requested('uploader', answers)
    expect(await ask(getVideo, { params: { videoId: '10' } }, context)).toMatchObject({ description_private: 'private' })
  })

  test('a key of another organisation sees what a guest sees', async () => {
    const { context } = requested('standard', {
      ...answers,
      getVideo: () => {
        throw notFound('video', '10')
      },
    })
    expect(await ask(getVideo, { params: { videoId: '10' } }, context)).not.toHaveProperty('description_private')
  })

  test('another refusal than "not found" is not taken for a foreign video', async () => {
    const { context } = requested('standard', {
      ...answers,
      getVideo: () => {
        throw new Error('broken')
      },
    })
    await expect(ask(getVideo, { params: { videoId: '10' } }, context)).rejects.toThrow('broken')
  })

  test('the player settings are there when asked for', async () => {
    const setting = Setting.create({ settingId: '3', allowDownload: true })
    const { context } = requested('guest', {
      ...answers,
      findVideoSetting: () => ({ setting, theme: Theme.create({ themeId: '4', textColour: '#112233' }) }),
    })
    const read = (query: object) => ask(getVideo, { params: { videoId: '10' }, query }, context)
    expect(await read({ player_settings: 'true' })).toMatchObject({ player_settings: { id: '3', allow_download: '1', password: '' } })
    expect(await read({ player_settings: 'true' })).toMatchObject({ theme: { id: '4', text_colour: '#112233', icon_colour: '' } })
    expect(await read({ player_settings: 'false' })).not.toHaveProperty('player_settings')
    await expect(read({ player_settings: '1' })).rejects.toThrow()
    const without = requested('guest', { ...answers, findVideoSetting: () => ({}) })
    const query = { player_settings: 'true' }
    expect(await ask(getVideo, { params: { videoId: '10' }, query }, without.context)).toHaveProperty('player_settings', null)
  })
})

describe('listing the videos of an organisation', () => {
  const answers: Answers = { listVideos: () => ({ videos: [video], nextPageToken: 'more', totalSize: 0 }) }

  test('leads on with the order that was asked for', async () => {
    const { context, calls } = requested('uploader', answers)
    const params = { organisationId: '2', orderBy: 'name', orderType: 'asc' }
    const reply = await ask(listVideosOfOrganisation, { params, query: { limit: '1' } }, context)
    expect(reply).toBeInstanceOf(Reply)
    expect(reply).toMatchObject({
      headers: { Link: '<https://video.example.org/v2/video/organisation/2/name/asc?start=2&limit=1&cursor=more>; rel="next"' },
    })
    expect(calls[0]?.request).toMatchObject({ organisationId: '2', order: 'VIDEO_ORDER_TITLE', descending: false, pageSize: 1, skip: 0 })
  })

  test.each([['3'], ['abc']])('is refused for organisation %s before any service is asked', async (organisationId) => {
    const { context, calls } = requested('standard', answers)
    await expect(ask(listVideosOfOrganisation, { params: { organisationId } }, context)).rejects.toMatchObject({
      reason: 'FOREIGN_ORGANISATION',
    })
    expect(calls).toEqual([])
  })
})

describe('uploading by URL', () => {
  const answers: Answers = {
    uploadVideo: () => ({ videoId: '10', mediaId: '11', jobId: '3', status }),
    replaceSource: () => ({ videoId: '12', jobId: '4', status }),
  }
  const payload = { url: 'https://media.example.org/a.mp4', organisation_id: '2' }

  test('a new video begins as encoding', async () => {
    const { context, calls } = requested('uploader', answers)
    expect(await ask(uploadVideo, { payload: { ...payload, tags: '["a"]', notify: 'false', published_width: '640' } }, context)).toEqual({
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

  test('one of low priority is handed on as one that gives way', async () => {
    const { context, calls } = requested('uploader', answers)
    await ask(uploadVideo, { payload: { ...payload, priority: 'low' } }, context)
    expect(calls[0]?.request).toMatchObject({ lowPriority: true })
  })

  test('with a media it replaces the source, and the rest is ignored', async () => {
    const { context, calls } = requested('uploader', answers)
    const answer = await ask(uploadVideo, { payload: { ...payload, media_id: '11', name: 'ignored' } }, context)
    expect(answer).toMatchObject({ id: '12', job_id: '4', action: 'replace' })
    expect(calls).toEqual([
      { method: 'replaceSource', request: { mediaId: '11', sourceUrl: payload.url, organisationId: '2', startsWaiting: false } },
    ])
  })

  test('what the address shows to be wrong is refused by the name of its field', async () => {
    const { context } = requested('uploader', answers)
    await expect(ask(uploadVideo, { payload: { ...payload, url: 'file:///etc/passwd' } }, context)).rejects.toMatchObject({
      kind: 'invalid',
      fields: [{ field: 'url' }],
    })
  })

  test('another organisation than its own is refused before the address is looked at', async () => {
    const { context } = requested('uploader', answers)
    await expect(ask(uploadVideo, { payload: { ...payload, organisation_id: '3', url: 'x:' } }, context)).rejects.toMatchObject({
      reason: 'FOREIGN_ORGANISATION',
    })
  })

  test.each([[{}], [{ media_id: '11' }]])('by script it waits (%j)', async (more) => {
    const { context, calls } = requested('system', answers)
    const query = { data: JSON.stringify({ ...payload, ...more }), callback: 'a.b' }
    const reply = await ask(uploadVideoByScript, { query }, context)
    const id = calls[0]?.method === 'replaceSource' ? '12' : '10'
    expect(reply).toMatchObject({ body: `/**/a.b({"id":"${id}","code":1,"message":"waiting for encoding"});` })
    expect(calls[0]?.request).toMatchObject({ startsWaiting: true })
  })
})

describe('changing a media', () => {
  const answers: Answers = {
    updateMedia: () => ({ media: Media.create({ mediaId: '11', title: 'New', tokenRequired: true, gifStatus: 1 }) }),
    replaceSource: () => ({ videoId: '12', jobId: '4', status }),
  }
  const change = (payload: object) => {
    const { context, calls } = requested('system', answers)
    return { calls, answer: ask(updateMedia, { params: { mediaId: '11' }, payload }, context) }
  }

  test('details answer as they are now', async () => {
    const { answer, calls } = change({ title: 'New', token_required_platform: '1' })
    expect(await answer).toEqual({
      media_id: '11',
      status: { action: 'update_data', success: true, data: { title: 'New', token_required_platform: true } },
    })
    expect(calls[0]?.request['updateMask']).toEqual(['title', 'token_required'])
  })

  test('an address replaces the source, and a header names the job', async () => {
    const uri = 'https://media.example.org/b.mp4'
    const body = { media_id: '11', status: { action: 'replace_video', success: true, uri } }
    expect(await change({ uri }).answer).toMatchObject({ body, headers: { 'X-Job-Id': '4' } })
  })

  test.each([[{ uri: 'https://media.example.org/b.mp4', title: 'x' }], [{}], [{ uri: 'ftp://media.example.org/b.mp4' }]])(
    '%j is refused and changes nothing',
    async (payload) => {
      const { answer, calls } = change(payload)
      await expect(answer).rejects.toMatchObject({ kind: 'invalid' })
      expect(calls).toEqual([])
    },
  )
})

describe('deleting a media', () => {
  const answers: Answers = {
    deleteMedia: () => ({ deleteTime: new Date('2026-03-01T09:05:03Z') }),
    getUser: ({ userId }) => {
      if (userId !== '9') throw notFound('user', String(userId))
      return {}
    },
  }
  const remove = (by: UserKind, came: { query?: object; payload?: object }) => {
    const { context, calls } = requested(by, answers)
    return { calls, answer: ask(deleteMedia, came, context) }
  }

  test('a user deletes on its own behalf', async () => {
    const { answer, calls } = remove('uploader', { query: { media_id: '11', user_id: '99', notes: 'old' } })
    expect(await answer).toEqual({ id: '11', result: true, deleted: '2026-03-01 09:05:03' })
    expect(calls[0]?.request).toEqual({ mediaId: '11', userId: '7', notes: 'old' })
  })

  test('the system says on whose behalf, in the query or in the payload', async () => {
    const { answer, calls } = remove('system', { query: { media_id: '11' }, payload: { user_id: 9 } })
    await answer
    expect(calls.at(-1)).toEqual({ method: 'deleteMedia', request: { mediaId: '11', userId: '9', notes: '' } })
  })

  test('a deletion requires a user', async () => {
    const { answer, calls } = remove('system', { query: { media_id: '11', user_id: '98' } })
    await expect(answer).rejects.toMatchObject({ kind: 'not_found', reason: 'USER_NOT_FOUND' })
    expect(calls.map(({ method }) => method)).toEqual(['getUser'])
  })

  test.each([
    ['system' as const, { query: { media_id: '11' } }, ['user_id']],
    ['system' as const, {}, ['media_id', 'user_id']],
    ['uploader' as const, {}, ['media_id']],
    ['uploader' as const, { query: { media_id: '11' }, payload: { media_id: '12' } }, ['media_id']],
  ])('a %s with %j receives %j', async (by, came, fields) => {
    const { answer, calls } = remove(by, came)
    await expect(answer).rejects.toMatchObject({ kind: 'invalid', fields: fields.map((field) => ({ field })) })
    expect(calls).toEqual([])
  })
})

describe('reading a key', () => {
  const answers: Answers = { getApiKey: ({ key }) => ({ apiKey: { value: key, resources: [], organisationId: '2', userId: '7' } }) }

  test('a user reads the one that it calls with', async () => {
    const { context } = requested('uploader', answers)
    expect(await ask(getApiKey, { params: { apiKey: 'vs_own' } }, context)).toEqual({
      acl: [],
      key: 'vs_own',
      organisation_id: '2',
      user_id: '7',
    })
  })

  test('a user is refused every other one, whether or not it exists', async () => {
    const { context, calls } = requested('standard', answers)
    await expect(ask(getApiKey, { params: { apiKey: 'vs_other' } }, context)).rejects.toMatchObject({
      kind: 'forbidden',
      reason: 'OWN_KEY_ONLY',
    })
    expect(calls).toEqual([])
  })

  test('the system reads any', async () => {
    const { context } = requested('system', answers)
    expect(await ask(getApiKey, { params: { apiKey: 'vs_other' } }, context)).toMatchObject({ key: 'vs_other' })
  })
})
