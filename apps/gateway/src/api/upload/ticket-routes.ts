import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { int, list, oneOf, organisationIdField, pathPart, text } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'
import { requiredOrganisation } from '../shared/resolve-organisation.ts'
import { VISIBILITIES } from '../shared/visibilities.ts'
import { FILE_DOCS, TUS_DOCS } from './tus-headers.ts'
import { tusErrorCodes, tusOptionsHeaders, uploadErrorCodes } from './tus-routes.ts'
import { requireOrganisation } from './upload-routes.ts'

const KINDS = ['video', 'audio'] as const
/** The platform has a smaller maximum. */
const MAX_BYTES = 1_000_000_000_000_000
const DEFAULT_SECONDS = 3_600

export const createTicket = route({
  post: ['/upload/ticket'],
  operationId: 'createUploadTicket',
  docs: { example: { organisation_id: '1', kinds: ['video'], expires_in: 3_600 } },
  section: 'Upload signing',
  access: 'user',
  summary: 'Create an address for one upload',
  description: `Returns a signed \`url\` to which a browser or a phone sends one file without a key: as the body of a \`PUT\` request, or by tus.
The file becomes a video of the organisation, on behalf of the user of the key. The upload must start before \`expires\`. A ticket
remains valid if the key is revoked. The quota is checked when the upload starts.`,
  payload: z.strictObject({
    max_bytes: int(
      { min: 1, max: MAX_BYTES },
      { description: 'Maximum size of the file in bytes. Defaults to the maximum of the platform.' },
    ).optional(),
    expires_in: int(
      { min: 60, max: 86_400 },
      { description: `Seconds until the upload must have started. Defaults to ${DEFAULT_SECONDS}.` },
    ).default(DEFAULT_SECONDS),
    kinds: list(oneOf(KINDS), { min: 1, max: KINDS.length }, { description: 'Allowed kinds of content.', example: ['video'] }).default([
      ...KINDS,
    ]),
    name: text(255, {}, { description: 'Title of the video. Defaults to the file name of a tus upload, or `video`.' }).default(''),
    visibility: oneOf(VISIBILITIES, { description: 'Visibility of the video.' }).default('public'),
    organisation_id: organisationIdField({ description: 'Id of the organisation. Required with a system key.' }).optional(),
  }),
  response: z.object({
    id: schema.text('The same as `upload_id`.', '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'),
    upload_id: schema.text('Id of the upload. It is a UUID.', '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'),
    url: schema.text(
      'Address for the file. Everyone who has it can upload one file. It is a secret until then.',
      'https://media.example.org/v2/upload/ticket/6fa1a6a4-…?expires=…&signature=…',
    ),
    expires: schema.text('Time until which the upload must have started, in UTC.', '2030-12-31T23:59:59Z'),
    max_bytes: schema.int('Maximum size of the file in bytes.', 21_474_836_480),
    kinds: z.array(z.enum(KINDS)).meta({ description: 'Allowed kinds of content.', example: ['video'] }),
  }),
  synonyms: { title: 'name' },
  publicNames: { lifetime_seconds: 'expires_in', title: 'name' },
  async handle({ payload }, context) {
    const { caller, services, call, publicUrl } = context
    const { max_bytes, expires_in, kinds, name, visibility } = payload
    const organisationId = requiredOrganisation(caller, payload.organisation_id)
    await requireOrganisation(organisationId, context)
    const request = { organisationId, maxBytes: max_bytes ?? 0, lifetimeSeconds: expires_in, kinds, title: name, visibility }
    const { uploadId, expires, signature, maxBytes } = await services.uploads.createTicket(request, call)
    return {
      id: uploadId,
      upload_id: uploadId,
      url: `${publicUrl}/v2/upload/ticket/${uploadId}?expires=${expires}&signature=${signature}`,
      expires: new Date(expires * 1_000).toISOString().replace('.000Z', 'Z'),
      max_bytes: maxBytes,
      kinds,
    }
  },
})

const common = {
  section: 'Upload signing',
  access: 'public',
  resource: 'upload::post',
  contentTypes: [],
  params: z.object({
    uploadId: pathPart({ description: 'Id of the upload. It is a UUID.', example: '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b' }),
  }),
  query: z.object({
    expires: text(20, {}, { description: 'As in the `url` of the ticket.' }).optional(),
    signature: text(100, {}, { description: 'As in the `url` of the ticket.' }).optional(),
  }),
  response: z.object({}),
  optionsHeaders: tusOptionsHeaders,
  handle: throwUnreachable,
} as const
const proxyTo = ({ uploadId }: { uploadId: string }) => `/ticket/${encodeURIComponent(uploadId)}`
const errorCodes = {
  ...tusErrorCodes,
  ...uploadErrorCodes,
  upload_not_found: 'The ticket does not exist, or its signature is invalid.',
  upload_too_large: 'The file is larger than `max_bytes` of the ticket (413).',
  ticket_expired: 'The ticket has expired before the upload started (410).',
  ticket_used: 'The file of this ticket was uploaded already (410).',
}

export const putTicketFile = route({
  ...common,
  put: ['/upload/ticket/:uploadId'],
  operationId: 'uploadTicketFile',
  docs: FILE_DOCS,
  cost: 'work',
  summary: 'Upload the file of a ticket',
  description: `The body is the file. Its \`Content-Type\` must be of a kind of the ticket, such as \`video/mp4\`, or be missing or
\`application/octet-stream\`. The response has the headers \`X-Video-Id\` and \`X-Job-Id\`, as for a tus upload. Another file is 410. A
request that ends early can be repeated until the ticket expires, or continued by tus.`,
  status: 201,
  errorCodes,
  proxyTo,
})

export const createTicketUpload = route({
  ...common,
  post: ['/upload/ticket/:uploadId'],
  operationId: 'startTicketUpload',
  docs: TUS_DOCS.create,
  cost: 'work',
  summary: 'Start a tus upload with a ticket',
  description: `Creates the upload of the ticket, with \`Upload-Length\` and optionally with the first bytes. \`Location\` is the address of the
ticket. The values \`filename\` and \`filetype\` of \`Upload-Metadata\` are used. An earlier upload that is not complete is removed.`,
  status: 201,
  errorCodes,
  proxyTo,
})

export const readTicketUpload = route({
  ...common,
  head: ['/upload/ticket/:uploadId'],
  operationId: 'getTicketUpload',
  docs: TUS_DOCS.read,
  summary: 'Read the offset of a ticket',
  description: 'Works like `HEAD /upload/tus/{upload_id}`, without a key. After completion, `X-Video-Id` contains the id of the video.',
  errorCodes,
  proxyTo,
})

export const appendTicketUpload = route({
  ...common,
  patch: ['/upload/ticket/:uploadId'],
  operationId: 'appendTicketUpload',
  docs: TUS_DOCS.append,
  audited: false,
  summary: 'Append to the file of a ticket',
  description: 'Works like `PATCH /upload/tus/{upload_id}`, without a key. An upload that has started can be continued after `expires`.',
  status: 204,
  errorCodes: {
    ...errorCodes,
    offset_mismatch: '`Upload-Offset` is not the offset of the upload (409).',
    checksum_mismatch: 'The bytes do not match `Upload-Checksum` (460).',
  },
  proxyTo,
})

export const ticketRoutes = [createTicket, putTicketFile, createTicketUpload, readTicketUpload, appendTicketUpload]

function throwUnreachable(): Promise<never> {
  throw new Error('requests of this route are proxied to encoding')
}
