import { requireValid } from '@vitascope/errors'
import { PolicyCondition } from '@vitascope/proto/encoding/v1/upload'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { field, reject } from '../../server/schema/field.ts'
import { flag, idField, oneOf, organisationIdField, pathPart, text } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'
import { QUOTA_ERRORS } from '../shared/quota-errors.ts'
import { requestedOrganisation, requiredOrganisation } from '../shared/resolve-organisation.ts'
import { formatUploadUrl } from './upload-link.ts'

const section = 'Upload signing'

export const getUploadConfig = route({
  get: ['/upload/config'],
  operationId: 'getUploadConfig',
  section: 'Upload signing',
  access: 'user',
  summary: 'Read the parameters for upload policies',
  description: 'Returns the bucket, key prefix, size limit, region and endpoint that a policy for `POST /upload/signature` requires.',
  query: z.object({
    organisation_id: organisationIdField({ description: 'Id of the organisation. Required with a system key.' }).optional(),
  }),
  response: z.object({
    bucket: schema.text('Name of the bucket.', 'vitascope'),
    key_prefix: schema.text('Prefix of every key.', 'uploads/2/'),
    max_bytes: schema.int('Maximum size of a file in bytes.', 21_474_836_480),
    region: schema.text('Region of the signature.', 'us-east-1'),
    endpoint: schema.text('URL to which the form is posted.', 'https://media.example.org/v2/upload/object'),
  }),
  async handle({ query }, context) {
    const { caller, services, call, publicUrl } = context
    const organisationId = requiredOrganisation(caller, query.organisation_id)
    await requireOrganisation(organisationId, context)
    const { bucket, keyPrefix, maxBytes, region, endpoint } = await services.uploads.getUploadConfig({ organisationId }, call)
    return { bucket, key_prefix: keyPrefix, max_bytes: maxBytes, region, endpoint: endpoint || `${publicUrl}/v2/upload/object` }
  },
})

const scalar = z.union([z.string(), z.number()])
const condition = field(
  (value) => {
    const isValid = z.array(scalar).length(3).safeParse(value).success || isOneField(value)
    return isValid ? value : reject('must be an object with one field, or a list of an operator and two values')
  },
  z.union([z.record(z.string(), scalar), z.array(scalar).length(3)]).meta({
    description: 'A condition: `{"field": "value"}`, `["starts-with", "$field", "value"]` or `["content-length-range", "1", "1000000"]`.',
  }),
)

export const signUpload = route({
  post: ['/upload/signature'],
  operationId: 'signUploadPolicy',
  section,
  access: 'user',
  summary: 'Sign a policy for a browser upload',
  description: `Signs a policy of a browser-based POST to an object store, signature version 4. The conditions must contain the \`bucket\`, a \`key\`
and a \`content-length-range\` within the limit of \`GET /upload/config\`. The \`key\` starts with the prefix of \`GET /upload/config\`,
or it is a lower-case UUID with an extension, which is then reserved for the organisation. \`acl\` must be \`private\`, and
\`success_action_status\` must be 200, 201 or 204. \`Content-Type\` and \`x-amz-meta-…\` may have any value. Missing \`x-amz-algorithm\`,
\`x-amz-credential\` and \`x-amz-date\` are added. The form must use their values from the returned policy. Errors name an invalid
condition by its index, such as \`conditions[2]\`.`,
  payload: z.strictObject({
    expiration: text(
      40,
      {},
      {
        description: 'Time in UTC at which the signature expires. At most 24 hours ahead; replace the date of the example.',
        example: '2030-12-31T23:59:59.000Z',
      },
    ),
    conditions: z
      .array(condition)
      .max(50)
      .meta({
        description: 'Conditions that the form must meet.',
        example: [{ bucket: 'vitascope' }, { key: 'uploads/2/launch.mp4' }, ['content-length-range', '1', '1000000']],
      }),
    organisation_id: organisationIdField({ description: 'Id of the organisation. Required with a system key.' }).optional(),
  }),
  response: z.object({
    policy: schema.text('Policy as Base64, for the form field `policy`.', 'eyJleHBpcmF0aW9uIj…'),
    signature: schema.text('Signature in hexadecimal, for the form field `x-amz-signature`.', '9f86d081884c7d65…'),
  }),
  async handle({ payload }, context) {
    const { caller, services, call } = context
    const { expiration, conditions } = payload
    const requestedId = payload.organisation_id
    const organisationId =
      requestedId === undefined ? requiredOrganisation(caller, requestedId) : requestedOrganisation(caller, requestedId)
    await requireOrganisation(organisationId, context)
    return services.uploads.signPolicy({ organisationId, expiration, conditions: conditions.map(toCondition) }, call)
  },
})

const objectForm = z.object({
  key: z.string().meta({ description: 'Key of the object, as in the policy.', example: 'uploads/1/launch.mp4' }),
  policy: z.string().meta({ description: '`policy` of `POST /upload/signature`.', example: 'eyJleHBpcmF0aW9uIj…' }),
  'x-amz-signature': z.string().meta({ description: '`signature` of `POST /upload/signature`.', example: '9f86d081884c7d65…' }),
  file: z.string().meta({ format: 'binary', description: 'The file. It is the last field.' }),
})

export const postObject = route({
  post: ['/upload/object'],
  operationId: 'uploadObject',
  section: 'Upload signing',
  access: 'public',
  cost: 'work',
  summary: 'Upload a file with a signed policy',
  description: `Works like the POST of an object store, for platforms that store objects themselves. The body is a \`multipart/form-data\` form with
\`key\`, \`policy\`, \`x-amz-signature\`, the fields of the policy’s conditions and, last, \`file\`. A condition must cover every field.
The fields must arrive within 13 s and have at most 64 KiB together. The status is 204, or the value of \`success_action_status\`. A
201 has an XML document. The header \`ETag\` is the MD5 of the file. A platform with its own object store responds with 409 and the
URL of that store. Only the policy limits the size of the body.`,
  status: 204,
  contentTypes: [],
  response: z.object({}),
  errorCodes: {
    policy_refused: 'The signature, the time or a field does not match the policy (403).',
    entity_too_large: 'The file is larger than the policy allows (400).',
    entity_too_small: 'The file is smaller than the policy allows (400).',
    object_exists: 'Another file uses the key (409).',
    object_store_elsewhere: 'The platform uses an object store. `detail` contains its URL (409).',
    quota_bytes: 'The `bytes` quota of the organisation is too small for the file (413).',
    too_many_uploads: 'The organisation has the maximum number of open uploads (429).',
    organisation_inactive: 'The organisation is not active (409).',
    request_timeout: 'The file does not start within 13 s, or the body arrives at less than 8 KiB/s (408).',
    payload_too_large: 'The fields before the file have more than 64 KiB together (413).',
    too_many_at_once: '64 uploads of the IP address are active (429).',
    upload_going: 'An earlier upload with this key is being removed (409).',
  },
  docs: { body: { 'multipart/form-data': objectForm } },
  proxyTo: () => '/object',
  handle: throwUnreachable,
})

export const readUpload = route({
  get: ['/upload/file/:uploadId'],
  operationId: 'getUploadedFile',
  section: 'Upload signing',
  access: 'public',
  summary: 'Download an uploaded file by temporary link',
  description:
    'The URL is the `tempLink` of `POST /upload/success`. It gives access to the file without a key until it expires. Other URLs get 404.',
  params: z.object({
    uploadId: pathPart({ description: 'Id of the upload. It is a UUID.', example: '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b' }),
  }),
  query: z.object({
    expires: text(20, {}, { description: 'Time at which the URL expires. Part of the `tempLink`.' }).optional(),
    signature: text(100, {}, { description: 'Signature of the URL. Part of the `tempLink`.' }).optional(),
  }),
  contentTypes: ['application/octet-stream'],
  response: z.object({}),
  proxyTo: ({ uploadId }) => `/file/${encodeURIComponent(uploadId)}`,
  handle: throwUnreachable,
})

export const completeUpload = route({
  post: ['/upload/success'],
  operationId: 'completeUpload',
  section,
  access: 'user',
  summary: 'Report a completed upload',
  description: `Browser upload widgets call this operation after the object store has accepted the file. The response contains \`tempLink\`, which
is valid for a day. As \`url\` of \`POST /video/upload\` or \`uri\` of \`PUT /media/{id}\`, it makes the platform read the file from
storage. With \`application=presentation\` the platform creates a presentation from the file. With \`append\` it adds the slides after
those of \`presentation_id\`. Repeated calls have one effect. A file that is not used within a day is removed.`,
  query: z.object({
    success: text(10, {}, { description: 'Required. Its value is ignored.' }).optional(),
    application: oneOf(['presentation'], { description: '`presentation` creates a presentation from the file.' }).optional(),
    append: text(10, {}, { description: 'If it is present, the slides are added to `presentation_id`.' }).optional(),
  }),
  payload: z.strictObject({
    key: text(1_024, { min: 1 }, { description: 'Key of the object.', example: 'uploads/2/launch.mp4' }),
    isBrowserPreviewCapable: flag({ description: 'Sent by the widget. Ignored.' }).optional(),
    uuid: text(100, {}, { description: 'Sent by the widget. Ignored.' }).optional(),
    name: text(255, {}, { description: 'Original name of the file.', example: 'Launch.mp4' }).default(''),
    bucket: text(255, {}, { description: 'Name of the bucket.' }).default(''),
    etag: text(200, {}, { description: 'ETag that the object store returned. A different ETag is rejected with 409.' }).default(''),
    presentation_id: idField('presentation to which the slides are added').optional(),
  }),
  response: z.object({
    tempLink: schema.text(
      'URL of the file. It is valid for a day.',
      'https://media.example.org/v2/upload/file/6fa1a6a4-…?expires=…&signature=…',
    ),
    thumbnailUrl: schema.text('Always empty. Pictures are created when the file is used.', ''),
    presentation_id: schema.id('presentation').optional(),
  }),
  errorCodes: {
    upload_not_found: 'The object does not exist, or its policy was signed for another organisation.',
    etag_mismatch: 'The stored object has another ETag (409).',
    presentation_not_found: 'The presentation does not exist.',
    presentation_busy: 'A file of the presentation is being processed (409).',
    slides_running: 'Another request is adding the file (409).',
    quota_bytes: QUOTA_ERRORS.quota_bytes,
    too_many_jobs: QUOTA_ERRORS.too_many_jobs,
    organisation_inactive: 'The organisation is not active (409).',
  },
  publicNames: { filename: 'name' },
  async handle({ query, payload }, { services, call, publicUrl }) {
    const appends = query.append !== undefined
    const problems = [
      ...(query.success === undefined ? [{ field: 'success', message: 'is required, but may be empty' }] : []),
      ...(appends && payload.presentation_id === undefined ? [{ field: 'presentation_id', message: 'is required with append' }] : []),
      ...(!appends && payload.presentation_id !== undefined ? [{ field: 'presentation_id', message: 'is allowed only with append' }] : []),
    ]
    requireValid(problems)
    const request = {
      key: payload.key,
      bucket: payload.bucket,
      etag: payload.etag,
      filename: payload.name,
      isPresentation: appends || query.application !== undefined,
      presentationId: payload.presentation_id ?? '',
    }
    const { presentationId, ...link } = await services.uploads.completeUpload(request, call)
    return {
      tempLink: formatUploadUrl(link, publicUrl),
      thumbnailUrl: '',
      ...(presentationId !== '' && { presentation_id: presentationId }),
    }
  },
})

export const uploadFrame = route({
  get: ['/upload/iframe'],
  operationId: 'getUploadFrame',
  section,
  access: 'public',
  summary: 'Return an empty page for upload widgets',
  description: 'Returns an empty HTML page, which upload widgets of older browsers load in a frame.',
  contentTypes: ['text/html'],
  response: z.string(),
  async handle() {
    const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': "default-src 'none'" }
    return new Reply('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Upload</title></head><body></body></html>\n', {
      headers,
    })
  },
})

export const uploadRoutes = [getUploadConfig, signUpload, postObject, readUpload, completeUpload, uploadFrame]

function isOneField(value: unknown): boolean {
  const record = z.record(z.string(), scalar).safeParse(value)
  return record.success && Object.keys(record.data).length === 1
}

function toCondition(input: z.output<typeof condition>): PolicyCondition {
  if (!Array.isArray(input)) {
    const [[name, value] = ['', '']] = Object.entries(input)
    return PolicyCondition.create({ operator: 'eq', name, value: String(value) })
  }
  const [operator = '', first = '', second = ''] = input.map(String)
  if (operator === 'content-length-range') return PolicyCondition.create({ operator, value: first, max: second })
  return PolicyCondition.create({ operator, name: first.replace(/^\$/, ''), value: second })
}

/** Throws if an organisation named by a system key does not exist. A user's own always exists. */
export async function requireOrganisation(organisationId: string, { caller, services, call }: Context): Promise<void> {
  if (caller.kind === 'user' && caller.organisationId === organisationId) return
  await services.organisations.getOrganisation({ organisationId }, call)
}

function throwUnreachable(): Promise<never> {
  throw new Error('requests of this route are proxied to encoding')
}
