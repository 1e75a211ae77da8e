import { describe, expect, test } from '@jest/globals'
import { type Json, readSummaries, toContract } from './api-changes/contract.ts'
import { type ApiChange, breakingProblems, compareApis, renderChanges } from './api-changes.ts'
import { provideOasdiff } from './lib/test-programs.ts'

const program = await provideOasdiff()
const describeWithOasdiff = program === undefined ? describe.skip : describe

const payload = {
  type: 'object',
  properties: { title: { type: 'string' }, visibility: { type: 'string', enum: ['public', 'unlisted', 'private'] } },
  required: ['title'],
  additionalProperties: false,
}
const video = {
  type: 'object',
  properties: { id: { type: 'string' }, title: { type: 'string' }, poster: { type: 'string', maxLength: 400 } },
  required: ['id', 'title'],
}
const file = { type: 'object', properties: { file: { type: 'string', format: 'binary' } }, required: ['file'] }
const event = { type: 'object', properties: { video_id: { type: 'string' } }, required: ['video_id'] }
const codes = { type: 'object', properties: { code: { type: 'string', enum: ['video_not_found'] } } }

/** Returns a small document with the same forms as docs/openapi.json. */
const createDocument = () => {
  const responses = {
    200: { description: 'The video.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Video' } } } },
    404: {
      description: 'A record does not exist.',
      content: { 'application/problem+json': { schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, structuredClone(codes)] } } },
    },
  }
  const requestBody = {
    required: true,
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Payload' } },
      'application/x-www-form-urlencoded': { schema: { anyOf: [{ $ref: '#/components/schemas/Payload' }, { type: 'object' }] } },
      'multipart/form-data': { schema: { anyOf: [{ $ref: '#/components/schemas/Payload' }, structuredClone(file)] } },
    },
  }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
  return {
    openapi: '3.1.0',
    info: { title: 'Videos', version: '2.0.0', description: 'An API.' },
    paths: {
      '/video': { post: { operationId: 'uploadVideo', summary: 'Upload a video', requestBody, responses } },
      '/video/{id}': {
        get: { operationId: 'getVideo', summary: 'Read a video', parameters: [id], responses },
        delete: {
          operationId: 'deleteVideo',
          summary: 'Delete a video',
          parameters: [id],
          responses: { 204: { description: 'Deleted.' } },
        },
      },
    },
    components: { schemas: { Payload: structuredClone(payload), Video: structuredClone(video), Problem: { type: 'object' } } },
    webhooks: {
      'video.ready': {
        post: {
          operationId: 'receiveVideoReadyEvent',
          summary: 'A video is ready',
          requestBody: { content: { 'application/json': { schema: structuredClone(event) } } },
          responses: { '2XX': { description: 'Accepted.' } },
        },
      },
    },
  }
}
type Document = ReturnType<typeof createDocument>

const compareWith = (change: (document: Document) => void) => {
  const current = createDocument()
  change(current)
  return compareApis(program ?? '', createDocument() as Json, current as Json)
}
const properties = (schema: { properties: object }) => schema.properties as Json
const remove = (from: object, name: string) => {
  delete (from as Json)[name]
}

describeWithOasdiff('the comparison of two API documents', () => {
  test.each<[what: string, change: (document: Document) => void, problem: string]>([
    [
      'a removed operation',
      ({ paths }) => remove(paths['/video/{id}'], 'delete'),
      'DELETE /video/{id}: The operation was removed. [api-removed-without-deprecation]',
    ],
    [
      'a removed required field of a response',
      ({ components }) => {
        remove(properties(components.schemas.Video), 'title')
        components.schemas.Video.required = ['id']
      },
      'POST /video, GET /video/{id}: Removed the required property `title` from the response with the `200` status. [response-required-property-removed]',
    ],
    [
      'a removed optional field of a response',
      ({ components }) => remove(properties(components.schemas.Video), 'poster'),
      'POST /video, GET /video/{id}: Removed the optional property `poster` from the response with the `200` status. [response-optional-property-removed]',
    ],
    [
      'a new required field of a request',
      ({ components }) => {
        properties(components.schemas.Payload)['language'] = { type: 'string' }
        components.schemas.Payload.required.push('language')
      },
      'POST /video: Added the new required request property `language`. [new-required-request-property]',
    ],
    [
      'a removed field of a request',
      ({ components }) => remove(properties(components.schemas.Payload), 'visibility'),
      'POST /video: Removed the request property `visibility`. [request-property-removed]',
    ],
    [
      'an enum with fewer values',
      ({ components }) => components.schemas.Payload.properties.visibility.enum.pop(),
      'POST /video: Removed the enum value `private` of the request property `visibility`. [request-property-enum-value-removed]',
    ],
    [
      'a removed field of an event',
      ({ webhooks }) => {
        const { schema } = webhooks['video.ready'].post.requestBody.content['application/json']
        remove(schema.properties, 'video_id')
        schema.required = []
      },
      'event video.ready: Removed the required property `video_id` from the event. [response-required-property-removed]',
    ],
    [
      'a field with another type',
      ({ components }) => {
        properties(components.schemas.Video)['id'] = { type: 'integer' }
      },
      "POST /video, GET /video/{id}: The `id` response's property `type` changed from `string` to `integer` for status `200`. [response-property-type-changed]",
    ],
    [
      'another operation id',
      ({ paths }) => {
        paths['/video'].post.operationId = 'sendVideo'
      },
      'POST /video: API operation id `uploadVideo` removed and replaced with `sendVideo`. [api-operation-id-removed]',
    ],
  ])('finds %s', async (_, change, problem) => {
    expect(breakingProblems(await compareWith(change), [])).toEqual([problem, expect.stringContaining('tools/api-changes/accepted.ts')])
  })

  test.each<[what: string, change: (document: Document) => void, texts: string[]]>([
    ['the same document', () => {}, []],
    [
      'other descriptions',
      (document) => {
        document.info.description = 'Another text.'
      },
      [],
    ],
    [
      'an optional field of a request',
      ({ components }) => {
        properties(components.schemas.Payload)['language'] = { type: 'string' }
      },
      ['Added the new optional request property `language`.'],
    ],
    [
      'a field of a response',
      ({ components }) => {
        properties(components.schemas.Video)['language'] = { type: 'string' }
        components.schemas.Video.required.push('language')
      },
      ['POST /video', 'GET /video/{id}'].map(() => 'Added the required property `language` to the response with the `200` status.'),
    ],
    [
      'a field of an event',
      ({ webhooks }) => {
        const { schema } = webhooks['video.ready'].post.requestBody.content['application/json']
        properties(schema)['language'] = { type: 'string' }
        schema.required.push('language')
      },
      ['Added the required property `language` to the event.'],
    ],
    [
      'a longer text in a response',
      ({ components }) => {
        properties(components.schemas.Video)['poster'] = { type: 'string', maxLength: 500 }
      },
      ["The `poster` response property's maxLength was increased from `400` to `500` for the response status `200`."],
    ],
    [
      'a code of an error',
      ({ paths }) => {
        const { schema } = paths['/video'].post.responses[404].content['application/problem+json']
        schema.allOf[1] = { type: 'object', properties: { code: { type: 'string', enum: ['video_not_found', 'media_not_found'] } } }
      },
      ['Added the new `media_not_found` enum value to the `code` response property for the response status `404`.'],
    ],
  ])('accepts %s', async (_, change, texts) => {
    const changes = await compareWith(change)
    expect(breakingProblems(changes, [])).toEqual([])
    expect([...new Set(changes.map(({ text }) => text))]).toEqual([...new Set(texts)])
  })

  test('leads to a page with added, removed and changed operations', async () => {
    const old = createDocument()
    const current = createDocument()
    remove(current.paths['/video/{id}'], 'delete')
    remove(properties(current.components.schemas.Video), 'poster')
    properties(current.components.schemas.Payload)['language'] = { type: 'string' }
    const { post } = current.paths['/video']
    Object.assign(current.paths, { '/film': { post: { ...post, operationId: 'uploadFilm', summary: 'Upload a film' } } })
    const changes = await compareApis(program ?? '', old as Json, current as Json)
    const summaries = new Map([old, current].flatMap((document) => [...readSummaries(toContract(document as Json))]))
    expect(renderChanges(changes, '0.1.0', summaries)).toBe(`
## Next version

Changes since 0.1.0.

### Added operations

| operation | purpose |
|---|---|
| \`POST /film\` | Upload a film |

### Removed operations

| operation | purpose |
|---|---|
| \`DELETE /video/{id}\` | Delete a video |

### Changed operations

| change | operations |
|---|---|
| **Breaking**: Removed the optional property \`poster\` from the response with the \`200\` status. | \`POST /video\`, \`GET /video/{id}\` |
| Added the new optional request property \`language\`. | \`POST /video\` |
`)
  })
})

describe('accepted changes', () => {
  const removed: ApiChange = { operation: 'GET /film', change: 'api-removed', text: 'The operation was removed.', isBreaking: true }

  test('cause no problem, for one operation or for all', () => {
    for (const operation of ['GET /film', '*'])
      expect(breakingProblems([removed], [{ operation, change: 'api-removed', reason: 'Films are videos.' }])).toEqual([])
  })

  test('need a reason and a change', () => {
    const accepted = { operation: 'GET /film', change: 'api-removed', reason: ' ' }
    expect(breakingProblems([removed], [accepted])).toEqual([expect.stringContaining('has no reason')])
    expect(breakingProblems([], [{ ...accepted, reason: 'Films are videos.' }])).toEqual([expect.stringContaining('does not exist')])
    expect(breakingProblems([removed], [{ ...accepted, operation: 'GET /clip', reason: 'Clips are videos.' }])).toHaveLength(3)
  })
})
