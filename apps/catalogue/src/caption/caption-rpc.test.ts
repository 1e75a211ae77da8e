import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type CaptionReader, createCaptionReader } from '@vitascope/captions'
import { sourcePolicy } from '@vitascope/fetch'
import { type Call, type Principal, serviceCall } from '@vitascope/grpc'
import {
  Caption,
  CaptionFileFormat,
  CaptionSource,
  CreateCaptionRequest,
  type ReadCaptionResponse,
} from '@vitascope/proto/catalogue/v1/caption'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { captionHandlers } from './caption-rpc.ts'
import { createSourceReader } from './caption-source.ts'
import { createCaptionStore } from './caption-store.ts'

let catalogue: CatalogueDatabase
let handlers: ReturnType<typeof captionHandlers>
let mediaId: string
let reader: CaptionReader
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  reader = createCaptionReader()
  handlers = captionHandlers(createCaptionStore(catalogue.db), createSourceReader(sourcePolicy(), reader))
  mediaId = (await catalogue.upload()).mediaId
})
afterAll(() => Promise.all([catalogue.close(), reader.close()]))

const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), principal })
const user = (organisationId: string, userType: 'uploader' | 'system' = 'uploader') =>
  toCall({ kind: 'user', keyId: '3', userId: '7', organisationId, userType })
const vtt = (count: number, text = 'x') =>
  `WEBVTT\n\n${Array.from({ length: count }, () => `00:01.000 --> 00:02.000\n${text}\n`).join('\n')}`
const file = (content: string) => CaptionSource.create({ content, format: CaptionFileFormat.CAPTION_FILE_FORMAT_VTT })
const create = (call: Call, content = vtt(2), more: Partial<CreateCaptionRequest> = {}) =>
  handlers.createCaption(CreateCaptionRequest.create({ mediaId, title: 'English', language: 'en', source: file(content), ...more }), call)
const read = async (captionId: string, call: Call) => {
  const parts: ReadCaptionResponse[] = []
  for await (const part of handlers.readCaption({ captionId }, call)) parts.push(part)
  return parts
}

test('captions can be read by their organisation, system users and services, and by no other callers', async () => {
  const { captionId } = await create(user('1'))
  for (const call of [user('1'), user('2', 'system'), serviceCall('delivery', 'r')]) {
    expect((await read(captionId, call)).flatMap(({ lines }) => lines.map(({ text }) => text))).toEqual(['x', 'x'])
  }
  await expect(read(captionId, user('2'))).rejects.toMatchObject({ reason: 'CAPTION_NOT_FOUND' })
  await expect(read(captionId, toCall({ kind: 'guest' }))).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
  await expect(read('x', serviceCall('delivery', 'r'))).rejects.toMatchObject({ reason: 'CAPTION_NOT_FOUND' })
})

test('services and guests cannot create, change or delete captions', async () => {
  const { captionId } = await create(user('1'))
  for (const call of [serviceCall('delivery', 'r'), toCall({ kind: 'guest' })]) {
    await expect(create(call)).rejects.toMatchObject({ kind: expect.stringMatching(/^(forbidden|unauthenticated)$/) })
    await expect(handlers.deleteCaption({ captionId }, call)).rejects.toMatchObject({
      kind: expect.stringMatching(/^(forbidden|unauthenticated)$/),
    })
    const change = { caption: Caption.fromPartial({ captionId, title: 'X' }), updateMask: ['title'], source: undefined }
    await expect(handlers.updateCaption(change, call)).rejects.toMatchObject({
      kind: expect.stringMatching(/^(forbidden|unauthenticated)$/),
    })
  }
  expect(await read(captionId, user('1'))).toMatchObject([{ caption: { title: 'English' } }])
})

test('long captions are streamed in parts, and the first part has the caption', async () => {
  const { captionId } = await create(user('1'), vtt(500, '日'.repeat(9_000)))
  const parts = await read(captionId, user('1'))
  expect(parts.map(({ caption }) => caption?.captionId)).toEqual([captionId, ...parts.slice(1).map(() => undefined)])
  expect(parts.flatMap(({ lines }) => lines)).toHaveLength(500)
  for (const { lines } of parts) expect(Buffer.byteLength(lines.map(({ text }) => text).join(''))).toBeLessThan(2 ** 20)
})

test('all field errors are reported at once, before the media is read', async () => {
  const invalid = create(user('1'), vtt(1), { title: '', language: 'x', mediaId: '7', source: undefined })
  await expect(invalid).rejects.toMatchObject({ fields: [{ field: 'title' }, { field: 'language' }, { field: 'source' }] })
  await expect(create(user('1'), vtt(1), { mediaId: 'x' })).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
})

test('captions are not stored after the deadline of the call', async () => {
  const call = { ...user('1'), deadline: new Date(Date.now() + 500) }
  const count = async () => await catalogue.db.query('select count(*) from caption')
  const before = await count()
  await expect(create(call)).rejects.toMatchObject({ kind: 'unavailable', reason: 'DEADLINE_EXCEEDED' })
  expect(await count()).toEqual(before)
  const { captionId } = await create(user('1'))
  const change = { caption: Caption.fromPartial({ captionId, title: 'X' }), updateMask: ['title'], source: undefined }
  await expect(handlers.updateCaption(change, { ...user('1'), deadline: new Date(Date.now() + 500) })).rejects.toMatchObject({
    reason: 'DEADLINE_EXCEEDED',
  })
  expect(await read(captionId, user('1'))).toMatchObject([{ caption: { title: 'English' } }])
})
