import { invalid } from '@vitascope/errors'
import { PolicyCondition } from '@vitascope/proto/encoding/v1/upload'
import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { flag, idField, oneOf, organisationIdField, pathPart, text } from '../fields.ts'
import { namedOrganisation, requiredOrganisation } from '../organisation-rule.ts'
import { shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { type Context, Reply, route } from '../route.ts'
import { linkOf } from './upload-link.ts'

const section = 'Upload signing'

export const getUploadConfig = route({
  get: ['/upload/config'],
  section: 'Added',
  access: 'user',
  summary: 'Read what an upload policy must name',
  query: z.object({ organisation_id: organisationIdField({ description: 'Required with a system key.' }).optional() }),
  answer: z.object({
    bucket: shown.text('The bucket.', 'vitascope'),
    key_prefix: shown.text('What keys begin with.', 'uploads/2/'),
    max_bytes: shown.int('The largest file.', 21_474_836_480),
    region: shown.text('Of the signature.', 'us-east-1'),
    endpoint: shown.text('Where the form is posted.', 'https://media.example.org/v2/upload/object'),
  }),
  async handle({ query }, context) {
    const { caller, services, call, publicUrl } = context
    const organisationId = requiredOrganisation(caller, query.organisation_id)
    await needOrganisation(organisationId, context)
    const { bucket, keyPrefix, maxBytes, region, endpoint } = await services.uploads.getUploadConfig({ organisationId }, call)
    return { bucket, key_prefix: keyPrefix, max_bytes: maxBytes, region, endpoint: endpoint || `${publicUrl}/v2/upload/object` }
  },
})

const plain = z.union([z.string(), z.number()])
const condition = field(
  (value) => {
    const isGood = z.array(plain).length(3).safeParse(value).success || isOneField(value)
    return isGood ? value : refuse('must be an object with one field, or a list of an operator and two values')
  },
  z
    .union([z.record(z.string(), plain), z.array(plain).length(3)])
    .meta({ description: '`{"field": "value"}`, `["starts-with", "$field", "value"]` or `["content-length-range", "1", "1000000"]`.' }),
)

export const signUpload = route({
  post: ['/upload/signature'],
  section,
  access: 'user',
  summary: 'Sign a policy by which a browser may upload one file',
  description: `A policy of the browser-based POST of object stores, signature version 4. Its conditions must name the \`bucket\`, a \`key\` that begins with
the prefix of \`GET /upload/config\` (or is a lower-case UUID with an extension, which is yours from then on) and a \`content-length-range\` within its
limit; \`acl\` may only be \`private\`, \`success_action_status\` 200, 201 or 204, and \`Content-Type\` and \`x-amz-meta-…\` what you like. \`x-amz-algorithm\`,
\`x-amz-credential\` and \`x-amz-date\` are added where they are missing: the form needs them as the answered policy has them. Bad conditions are named by
their place: \`conditions[2]\`.`,
  payload: z.strictObject({
    expiration: text(
      40,
      {},
      {
        description: 'When the signature ends, in UTC; at most 24 hours ahead.',
        example: '2030-12-31T23:59:59.000Z',
      },
    ),
    conditions: z
      .array(condition)
      .max(50)
      .meta({
        description: 'What the form must be.',
        example: [{ bucket: 'vitascope' }, { key: 'uploads/2/launch.mp4' }, ['content-length-range', '1', '1000000']],
      }),
    organisation_id: organisationIdField({ description: 'Required with a system key.' }).optional(),
  }),
  answer: z.object({
    policy: shown.text('Base64, for the field `policy` of the form.', 'eyJleHBpcmF0aW9uIj…'),
    signature: shown.text('Hex, for the field `x-amz-signature`.', '9f86d081884c7d65…'),
  }),
  async handle({ payload }, context) {
    const { caller, services, call } = context
    const { expiration, conditions } = payload
    const named = payload.organisation_id
    const organisationId = named === undefined ? requiredOrganisation(caller, named) : namedOrganisation(caller, named)
    await needOrganisation(organisationId, context)
    return services.uploads.signPolicy({ organisationId, expiration, conditions: conditions.map(toCondition) }, call)
  },
})

export const postObject = route({
  post: ['/upload/object'],
  section: 'Added',
  access: 'public',
  cost: 'work',
  summary: 'Upload a file under a signed policy, where the platform keeps its objects itself',
  description: `As the POST of an object store: a \`multipart/form-data\` with \`key\`, \`policy\`, \`x-amz-signature\`, the fields of the policy's conditions and, last,
\`file\`. Every field must be covered by a condition. Answers 204, or what \`success_action_status\` says: 201 with an XML document. The header \`ETag\` is
the MD5 of the file. With an object store of its own the platform answers 409 and says where to post. The size of the body is bounded by the policy alone.`,
  status: 204,
  types: [],
  answer: z.object({}),
  refusals: {
    policy_refused: 'signature, time or a field is not as the policy has it (403)',
    entity_too_large: 'the file has more bytes than the policy lets in (400)',
    entity_too_small: 'the file has fewer bytes than the policy wants (400)',
    object_exists: 'the key is taken by another file (409)',
    object_store_elsewhere: 'there is an object store: the sentence says where (409)',
    upload_going: 'an earlier upload under this key is being removed (409)',
  },
  passOn: () => '/object',
  handle: neverCalled,
})

export const readUpload = route({
  get: ['/upload/file/:uploadId'],
  section: 'Added',
  access: 'public',
  summary: 'Download an uploaded file by its temporary link',
  description: 'The `tempLink` of `POST /upload/success`: it opens the file for whoever has it, until it ends. 404 for any other.',
  params: z.object({ uploadId: pathPart({ description: 'Id of the upload: a UUID.', example: '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b' }) }),
  query: z.object({ expires: text(20).optional(), signature: text(100).optional() }),
  types: ['application/octet-stream'],
  answer: z.object({}),
  passOn: ({ uploadId }) => `/file/${encodeURIComponent(uploadId)}`,
  handle: neverCalled,
})

export const completeUpload = route({
  post: ['/upload/success'],
  section,
  access: 'user',
  summary: 'Tell that an upload has succeeded, and get a link to it',
  description: `Called by browser upload widgets when the object store has taken the file. \`tempLink\` is good for a day: as \`url\` of \`POST /video/upload\` and
\`uri\` of \`PUT /media/{id}\` the file is read from storage. With \`application=presentation\` a presentation is made of it, with \`append\` its slides follow those of
\`presentation_id\`. Calling it twice has one effect. A file that is not used within a day is removed.`,
  query: z.object({
    success: text(10, {}, { description: 'Must be there; its value does not matter.' }).optional(),
    application: oneOf(['presentation'], { description: 'Makes a presentation of the file.' }).optional(),
    append: text(10, {}, { description: 'Being there, it adds slides to `presentation_id`.' }).optional(),
  }),
  payload: z.strictObject({
    key: text(1_024, { min: 1 }, { description: 'The key of the object.', example: 'uploads/2/launch.mp4' }),
    isBrowserPreviewCapable: flag({ description: 'Of the widget; not used.' }).optional(),
    uuid: text(100, {}, { description: 'Of the widget; not used.' }).optional(),
    name: text(255, {}, { description: 'The file’s own name.', example: 'Launch.mp4' }).default(''),
    bucket: text(255, {}, { description: 'Where the object is.' }).default(''),
    etag: text(200, {}, { description: 'As the store gave it; another one is 409.' }).default(''),
    presentation_id: idField('presentation that the slides are added to').optional(),
  }),
  answer: z.object({
    tempLink: shown.text('The file, for a day.', 'https://media.example.org/v2/upload/file/6fa1a6a4-…?expires=…&signature=…'),
    thumbnailUrl: shown.text('Always empty: pictures are made when the file is used.'),
    presentation_id: shown.id('presentation').optional(),
  }),
  refusals: {
    upload_not_found: 'there is no such object, or it was signed for another organisation',
    etag_mismatch: 'the object that is there has another etag (409)',
    presentation_not_found: 'there is no such presentation',
    presentation_busy: 'a file of the presentation is being processed (409)',
    organisation_inactive: 'the organisation is not active',
  },
  async handle({ query, payload }, { services, call, publicUrl }) {
    const appends = query.append !== undefined
    const problems = [
      ...(query.success === undefined ? [{ field: 'success', message: 'must be there, if empty' }] : []),
      ...(appends && payload.presentation_id === undefined ? [{ field: 'presentation_id', message: 'is required with append' }] : []),
      ...(!appends && payload.presentation_id !== undefined ? [{ field: 'presentation_id', message: 'is for append only' }] : []),
    ]
    if (problems.length > 0) throw invalid(problems)
    const request = {
      key: payload.key,
      bucket: payload.bucket,
      etag: payload.etag,
      filename: payload.name,
      isPresentation: appends || query.application !== undefined,
      presentationId: payload.presentation_id ?? '',
    }
    const { presentationId, ...link } = await withPublicNames({ filename: 'name' }, services.uploads.completeUpload(request, call))
    return {
      tempLink: linkOf(link, publicUrl),
      thumbnailUrl: '',
      ...(presentationId !== '' && { presentation_id: presentationId }),
    }
  },
})

export const uploadFrame = route({
  get: ['/upload/iframe'],
  section,
  access: 'public',
  summary: 'An empty page, for upload widgets of older browsers',
  types: ['text/html'],
  answer: z.string(),
  async handle() {
    const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': "default-src 'none'" }
    return new Reply('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Upload</title></head><body></body></html>\n', {
      headers,
    })
  },
})

export const uploadRoutes = [getUploadConfig, signUpload, postObject, readUpload, completeUpload, uploadFrame]

function isOneField(value: unknown): boolean {
  const record = z.record(z.string(), plain).safeParse(value)
  return record.success && Object.keys(record.data).length === 1
}

function toCondition(given: z.output<typeof condition>): PolicyCondition {
  if (!Array.isArray(given)) {
    const [[name, value] = ['', '']] = Object.entries(given)
    return PolicyCondition.create({ operator: 'eq', name, value: String(value) })
  }
  const [operator = '', first = '', second = ''] = given.map(String)
  if (operator === 'content-length-range') return PolicyCondition.create({ operator, value: first, most: second })
  return PolicyCondition.create({ operator, name: first.replace(/^\$/, ''), value: second })
}

/** The system may name any organisation; a user's own is there. */
async function needOrganisation(organisationId: string, { caller, services, call }: Context): Promise<void> {
  if (caller.kind === 'user' && caller.organisationId === organisationId) return
  await services.organisations.getOrganisation({ organisationId }, call)
}

function neverCalled(): Promise<never> {
  throw new Error('encoding takes these requests')
}
