import { describe, expect, test } from '@jest/globals'
import { notFound } from '@vitascope/errors'
import type { UserKind } from '@vitascope/grpc'
import { User, UserType } from '@vitascope/proto/auth/v1/user'
import { Presentation } from '@vitascope/proto/catalogue/v1/presentation'
import type { Services } from '../../clients/services.ts'
import type { Context, Route } from '../../server/route/route.ts'
import { inputSchemas } from '../../server/routing/input.ts'
import { PresentationResponse, presentationResponse } from './presentation-response.ts'
import { createPresentation, getPresentation, updatePresentation } from './presentation-routes.ts'

const publicUrl = 'https://video.example.org'
const slide = (seconds?: number) => ({ version: 'v1', path: 's.jpg', thumbnailPath: 't.jpg', width: 16, height: 9, seconds })
const presentation = Presentation.fromPartial({
  presentationId: '10',
  organisationId: '2',
  userId: '7',
  title: 'Launch',
  filename: 'launch.pdf',
  videoId: '9',
  status: { state: 'PRESENTATION_STATE_AWAITING_TIMINGS', progress: 99, code: 1999, reason: '' } as never,
  createTime: new Date('2026-03-01T09:05:03Z'),
  slides: [slide(0), slide()],
  documentVersion: 'v1',
  documentPath: 'document.pdf',
})

describe('the presentation response', () => {
  test('has the documented fields', () => {
    const base = `${publicUrl}/delivery/presentation/10/v1`
    const response = presentationResponse(presentation, publicUrl)
    expect(response).toEqual({
      id: '10',
      filename: 'launch.pdf',
      title: 'Launch',
      description: '',
      user_id: '7',
      organisation_id: '2',
      url: `${base}/document.pdf`,
      status: { message: 'ok, but awaiting timings', progress: 99, code: 1999, reason: '' },
      video_id: '9',
      date_created: '2026-03-01 09:05:03',
      slides: {
        '1': { seconds: 0, url: `${base}/s.jpg`, thumbnail: `${base}/t.jpg` },
        '2': { seconds: null, url: `${base}/s.jpg`, thumbnail: `${base}/t.jpg` },
      },
      slides_url: { '1': `${base}/s.jpg`, '2': `${base}/s.jpg` },
      number_of_slides: 2,
    })
    expect(PresentationResponse.strict().safeParse(response).error).toBeUndefined()
  })
  test('has empty fields for a presentation without slides', () => {
    const response = presentationResponse({ ...presentation, slides: [], documentVersion: '', documentPath: '', videoId: '' }, publicUrl)
    expect(response).toMatchObject({ url: '', slides: {}, slides_url: {}, number_of_slides: 0, video_id: '' })
  })
})

type RecordedCall = { method: string; request: Record<string, unknown> }

function buildContext(by: UserKind | 'guest', responses: Record<string, () => unknown>) {
  const calls: RecordedCall[] = []
  const noun = new Proxy(
    {},
    {
      get: (_, method: string) => async (request: Record<string, unknown>) => {
        calls.push({ method, request })
        const respond = responses[method]
        if (!respond) throw new Error(`${method} was not expected to be called`)
        return respond()
      },
    },
  )
  const user = { keyId: '5', userId: '7', organisationId: '2' }
  const caller =
    by === 'guest' ? { kind: by } : { kind: 'user' as const, ...user, userType: by, resources: new Set<string>(), key: 'vs_own' }
  const principal = by === 'guest' ? { kind: by } : { kind: 'user' as const, ...user, userType: by }
  const context: Context = {
    caller,
    call: { principal, requestId: 'r', signal: new AbortController().signal },
    // The fake has each method that these routes call, under its real name.
    services: { presentations: noun, users: noun } as unknown as Services,
    publicUrl,
    mediaUrl: publicUrl,
    checkSource: () => [],
    countPasswordAttempt: () => Promise.resolve(),
    countSignIn: () => Promise.resolve(),
    countSubmission: () => Promise.resolve(),
    admitEvents: (_events, _sent, send) => send(new Set()),
    client: { address: '203.0.113.1', userAgent: 'test' },
  }
  return { context, calls }
}

async function callRoute(route: Route, input: { params?: unknown; payload?: unknown }, context: Context): Promise<unknown> {
  const { params, query, payload } = inputSchemas(route)
  const parsed = payload.parse(input.payload ?? {}) as Record<string, unknown>
  return route.handle({ params: params.parse(input.params ?? {}), query: query.parse({}), payload: parsed }, context)
}

const throwNotFound = () => {
  throw notFound('presentation', '10')
}

describe('reading', () => {
  const read = (by: UserKind | 'guest', respond: () => unknown) => {
    const { context, calls } = buildContext(by, { getPresentation: respond, findPublicPresentation: () => ({ presentation }) })
    return callRoute(getPresentation, { params: { id: '10' } }, context).then(() => calls.map(({ method }) => method))
  }
  test('a guest and a key of another organisation read the public presentation', async () => {
    expect(await read('guest', throwNotFound)).toEqual(['findPublicPresentation'])
    expect(await read('standard', throwNotFound)).toEqual(['getPresentation', 'findPublicPresentation'])
  })
  test('a key of the same organisation reads the complete presentation', async () => {
    expect(await read('uploader', () => ({ presentation }))).toEqual(['getPresentation'])
  })
})

describe('writing', () => {
  const responses = {
    createPresentation: () => ({ presentation }),
    updatePresentation: () => ({ presentation }),
    getPresentation: () => ({ presentation }),
    getUser: () => ({ user: User.create({ userId: '9', organisationId: '2', userType: UserType.USER_TYPE_STANDARD }) }),
  }
  test('creating looks up the user only if the payload names one', async () => {
    const { context, calls } = buildContext('system', responses)
    await callRoute(createPresentation, { payload: { title: 'A', organisation_id: 2, user_id: '9', video_id: null } }, context)
    await callRoute(createPresentation, { payload: { title: 'A', organisation_id: '2' } }, context)
    expect(calls.map(({ method }) => method)).toEqual(['getUser', 'createPresentation', 'createPresentation'])
    expect(calls[1]?.request).toEqual({ organisationId: '2', userId: '9', title: 'A', description: '', videoId: '' })
    expect(calls[2]?.request).toMatchObject({ userId: '' })
  })
  test('a user of another organisation is not found, unless it is a system user', async () => {
    const contextWith = (user: Partial<User>) => {
      const getUser = () => ({ user: User.create({ userId: '9', organisationId: '3', ...user }) })
      return buildContext('system', { ...responses, getUser }).context
    }
    const rejection = { kind: 'not_found', reason: 'USER_NOT_FOUND' }
    const [foreign, system] = [contextWith({ userType: UserType.USER_TYPE_STANDARD }), contextWith({ userType: UserType.USER_TYPE_SYSTEM })]
    const create = { payload: { title: 'A', organisation_id: '2', user_id: '9' } }
    await expect(callRoute(createPresentation, create, foreign)).rejects.toMatchObject(rejection)
    await expect(callRoute(createPresentation, create, system)).resolves.toBeDefined()
    const update = (user_id: string) => ({ params: { id: '10' }, payload: { user_id } })
    await expect(callRoute(updatePresentation, update('9'), foreign)).rejects.toMatchObject(rejection)
    // The current value is accepted, so that clients can send the whole record back.
    await expect(callRoute(updatePresentation, update('7'), foreign)).resolves.toBeDefined()
  })
  test('the update mask has only the sent fields; seconds are numbers, digits or null', async () => {
    const { context, calls } = buildContext('system', responses)
    const slides = { '1': { seconds: 0 }, '2': { seconds: '604800' }, '1000': { seconds: null } }
    await callRoute(updatePresentation, { params: { id: '10' }, payload: { title: 'B', slides: JSON.stringify(slides) } }, context)
    expect(calls[0]?.request).toMatchObject({
      updateMask: ['title'],
      presentation: { presentationId: '10', title: 'B' },
      timings: [
        { slide: 1, seconds: 0 },
        { slide: 2, seconds: 604_800 },
        { slide: 1000, seconds: undefined },
      ],
    })
  })
  test.each([
    [{}],
    [{ slides: { '0': { seconds: 1 } } }],
    [{ slides: { x: { seconds: 1 } } }],
    [{ slides: { '1': { seconds: 604_801 } } }],
    [{ slides: { '1': { seconds: -1 } } }],
    [{ slides: { '1': { seconds: 1.5 } } }],
    [{ slides: { '1': {} } }],
    [{ slides: { '1': { seconds: 1, url: 'x' } } }],
    [{ slides: { ['__proto__x']: { seconds: 1 } } }],
    [{ slides: JSON.parse('{"__proto__": {"seconds": 1}}') as unknown }],
    [{ slides: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [String(i + 1), { seconds: 1 }])) }],
    [{ slides: [{ seconds: 1 }] }],
    [{ title: ' ' }],
    [{ title: 'x'.repeat(256) }],
    [{ description: 'x'.repeat(5_001) }],
    [{ status: 'ok' }],
    [{ id: '11' }],
  ])('rejects the change %j without calling a service', async (payload) => {
    const { context, calls } = buildContext('system', responses)
    await expect(callRoute(updatePresentation, { params: { id: '10' }, payload }, context)).rejects.toThrow()
    expect(calls).toEqual([])
  })
  test('a missing presentation is reported before a missing user', async () => {
    const { context } = buildContext('system', { ...responses, getPresentation: throwNotFound })
    await expect(callRoute(updatePresentation, { params: { id: '10' }, payload: { user_id: '9' } }, context)).rejects.toMatchObject({
      reason: 'PRESENTATION_NOT_FOUND',
    })
  })
})
