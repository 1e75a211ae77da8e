import type { Call } from '@vitascope/grpc'
import type { Cost } from '@vitascope/rate-limit'
import { z } from 'zod'
import type { Services } from '../../clients/services.ts'
import type { EventAdmission } from '../limits/event-budgets.ts'
import type { LineForm, PayloadShape } from '../payload/payload-schema.ts'
import type { Caller } from './caller.ts'
import { PAGE_NAMES, type PublicNames, withPublicNames } from './public-names.ts'
import type { Reply, Streamed } from './reply.ts'

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head'

/**
 * Access to a route:
 * - `public`: everyone. A key that is sent must be valid, and is used only if it has the route's
 *   resource
 * - `user`: keys of every user (uploader, standard, system)
 * - `super`: keys of super users (standard) and of system users
 * - `system`: keys of system users
 */
export type Access = 'public' | 'user' | 'super' | 'system'

/** Schema of a path or query. */
type Shape = z.ZodObject

/** Prefixes of generated URLs, without a trailing slash. */
export interface PublicUrls {
  publicUrl: string
  /** For media files: the public address of delivery, or that of the gateway. */
  mediaUrl: string
}

/** A response to a guest may be reused until this video, or a record of its organisation, changes. */
export interface GuestCacheRule {
  videoId: string
  organisationId: string
  /** Time from which the response is outdated without a change. */
  expireTime: Date | undefined
}

/** The arguments of a handler in addition to its input. */
export interface Context extends PublicUrls {
  caller: Caller
  /** Options for every service call: principal, request id, signal, deadline, idempotency. */
  call: Call
  services: Services
  /**
   * Returns the problems of a source URL that are visible in the URL itself, as messages for its
   * field.
   */
  checkSource: (url: string) => readonly string[]
  /**
   * Counts a password attempt of the caller's address for a video. Throws `RateLimited` (429) above
   * the limit.
   */
  countPasswordAttempt: (videoId: string) => Promise<void>
  /**
   * Counts a sign-in of the caller's address, correct or not. `subject` identifies the user, or the sign-in if the user
   * is unknown. Throws `RateLimited` (429) above the limit.
   */
  countSignIn: (subject: string) => Promise<void>
  /**
   * Counts a contact form submission of the caller's address. Throws `RateLimited` (429) above the
   * limit.
   */
  countSubmission: (contactFormId: string) => Promise<void>
  /**
   * Consumes the cost of a request's events from the caller's budgets. Throws `RateLimited` (429)
   * when they are exhausted.
   */
  admitEvents: EventAdmission
  /** Client address and user agent of the request. Only a sign-in stores them, with the session of the user. */
  client: { address: string; userAgent: string }
}

/** An entry of the route table. Paths use Express syntax below `/v2`: `/video/:videoId`. */
export interface Route<
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Payload extends PayloadShape = PayloadShape,
  ResponseSchema extends z.ZodType = z.ZodType,
> {
  verb: Verb
  /** The documented path first, then alternative spellings. */
  paths: readonly string[]
  /** Other methods and paths for the same operation, with the same access rules and resource. */
  aliases: readonly { verb: Verb; path: string }[]
  /**
   * Name of the operation in the API document and in generated clients, such as `listVideos`: a verb
   * and a noun. It is unique. Aliases have names that are derived from it.
   */
  operationId: string
  /** Noun that the route belongs to, which is its tag in the API document. */
  section: string
  access: Access
  /** ACL resource: first path segment and method, such as `video::post`. */
  resource: string
  cost: Cost
  /** One line for the docs. */
  summary: string
  /** More for the docs, as Markdown. */
  description: string
  params: Params
  query: Query
  /**
   * Schema of the payload in any of its three forms. Undefined for routes without payload. It may
   * also be a record with free names (`z.record`) or a list (`z.array`, with a `max`). The flat
   * fields of a form are then the only item of the list, if items have fields.
   */
  payload: Payload | undefined
  /** Field that may hold a list, in JSON and in forms: `order` of `{"order": [3, 1, 2]}`. */
  payloadField?: string
  /** Other names of fields of the payload: `{ title: 'name' }`. */
  synonyms?: Readonly<Record<string, string>>
  /** The record that the route changes. Its other fields are ignored, so that clients can send it back as they have read it. */
  record?: z.ZodObject
  /** True to reject requests of pages of other sites, also without a key. */
  ownPagesOnly: boolean
  /** True if `If-Match` makes the change conditional. GET of the same path then returns a `Reply` with `updateTime`. */
  isConditional: boolean
  /** True if the payload may be missing. The defaults of its fields then apply. */
  payloadOptional: boolean
  /** End of the error message for a file in a form: what to do instead. */
  fileAdvice?: string
  /** What callers with less access can use instead of the route, as a sentence. */
  alternative?: string
  /** True if `text/plain` is parsed as JSON. `sendBeacon` sends it without a CORS preflight. */
  plainJson: boolean
  /**
   * A further form of a list payload: a text of this type, or `text/plain`, with one item a line.
   * Each line becomes an item with one field.
   */
  lines?: LineForm
  /**
   * Parses a payload instead of the schema, for requests so frequent that the schema is too slow.
   * For the value of a canonical JSON text (`parseCanonicalJson`) it returns the same output as the
   * schema. It returns undefined if the schema would reject or change a value, or in doubt.
   */
  fastParse?(value: unknown): z.output<Payload> | undefined
  /**
   * True to serve the documented path without Express, for very frequent requests. The path must
   * not have parameters.
   */
  bypassExpress: boolean
  /** Status of a successful response. */
  status: number
  /** Schema of the body of a successful response. */
  response: ResponseSchema
  /** Content types of a successful response. All except JSON are texts, whatever `response` is. */
  contentTypes: readonly string[]
  /**
   * Stable error codes that only this route has, for the docs: `{ only_publish: 'The video is the
   * only one of its media.' }`.
   */
  errorCodes: Readonly<Record<string, string>>
  /**
   * Public names of proto fields where they differ. They replace the proto names in field errors of
   * services. A route with a `cursor` has the names of the paging fields too.
   */
  publicNames: PublicNames
  /**
   * False if GET changes or creates something. HEAD then returns 405 and responses are not cached.
   */
  readOnly: boolean
  /**
   * True if concurrent requests of guests share one response. Only for reads whose response to a
   * guest depends on nothing but the path and the query. Handlers of such requests have no signal of
   * a client, because other requests wait for the same response.
   */
  sharedByGuests: boolean
  /**
   * Returns how long a response to a guest may be reused, or undefined if it must not be. Only for
   * routes with `sharedByGuests` whose response depends on nothing but the video and its organisation.
   */
  guestCacheRule?(body: z.input<ResponseSchema>): GuestCacheRule | undefined
  /**
   * True if calls are written to the audit log: everything but safe GETs and routes that store no
   * record.
   */
  audited: boolean
  /**
   * Query parameter for the key where headers are not possible, as in a `<script>`. The header
   * works too.
   */
  apiKeyParam?: 'api_key'
  /**
   * Validates at the service, without changes, when fields of the payload are invalid on their
   * own. It receives the valid fields and the names of the invalid ones, and its field errors are
   * reported too. For routes whose service validates more than the schema.
   */
  validateRemotely?(
    input: { params: z.output<Params>; payload: Partial<z.output<Payload>>; invalidFields: ReadonlySet<string> },
    context: Context,
  ): Promise<unknown>
  /**
   * Returns the path at encoding to which the whole request is proxied. The body is then not a
   * payload and has its own limits, and `handle` is never called.
   */
  proxyTo?(params: z.output<Params>): string
  /** How the route receives a file as the body instead of a payload. */
  file?: FileBody<z.output<Params>, z.input<ResponseSchema>>
  /** How the route receives a file in the part `file` of a multipart form. */
  fileForm?: FormBody
  docs: RouteDocs
  /** Additional headers of OPTIONS responses. */
  optionsHeaders?: Readonly<Record<string, string>>
  handle(
    input: { params: z.output<Params>; query: z.output<Query>; payload: z.output<Payload> },
    context: Context,
  ): Promise<z.input<ResponseSchema> | Reply | Streamed>
}

/** What the API document says about a route in addition to its schemas. */
export interface RouteDocs {
  /**
   * A short payload that the schema accepts as it is. By default it has the required fields, with
   * their examples.
   */
  example?: object
  requestHeaders?: z.ZodObject
  responseHeaders?: z.ZodObject
  /** Bodies of a proxied request by content type. */
  body?: Readonly<Record<string, z.ZodType>>
}

/** A body that is a file. It is streamed to encoding, which checks and stores it. */
export interface FileBody<Params, ResponseBody> {
  /** Content types for the docs. */
  contentTypes: readonly string[]
  /** Returns true if a body of this content type is a file. All other bodies are payloads. */
  accepts(contentType: string): boolean
  /** Returns the path at encoding that stores the file. It throws before the file is read if the caller may not send one. */
  storeAt(params: Params, context: Context): Promise<string>
  /** Handles the request after the file was stored as an upload. */
  handle(input: { params: Params; uploadId: string }, context: Context): Promise<ResponseBody | Reply>
}

/**
 * A multipart form with a file in its last part, `file`. The file is streamed to encoding, which stores it as an upload.
 * A form without a file is a payload.
 */
export interface FormBody<Params = Record<string, unknown>, Payload extends z.ZodObject = z.ZodObject> {
  /** The fields in front of the file. */
  payload: Payload
  /** Returns the organisation to which the file belongs. It throws before the file is read if the caller may not send one. */
  findOrganisation(input: { params: Params; payload: z.output<Payload> }, context: Context): Promise<string>
  /** Handles the request after the file was stored. A file that is not used is removed. */
  handle(
    input: { params: Params; payload: z.output<Payload>; file: StoredFile },
    context: Context,
  ): Promise<{ isFileUsed: boolean; result: unknown }>
}

/** Declares a form with a file. */
export function formBody<Payload extends z.ZodObject>(declared: FormBody<Record<string, unknown>, Payload>): FormBody {
  // The handlers only receive what the schema of the same declaration parsed.
  return declared as unknown as FormBody
}

/** A file of a form that is stored at encoding. */
export interface StoredFile {
  uploadId: string
  organisationId: string
  /** File name without a path, or `video`. */
  name: string
}

/**
 * A route declaration: one of the methods with its paths, and everything that differs from the
 * defaults.
 */
export type RouteDeclaration<Params extends Shape, Query extends Shape, Payload extends PayloadShape, ResponseSchema extends z.ZodType> = {
  [V in Verb]?: readonly string[]
} & Pick<
  Route<Params, Query, Payload, ResponseSchema>,
  | 'operationId'
  | 'section'
  | 'access'
  | 'summary'
  | 'response'
  | 'guestCacheRule'
  | 'fastParse'
  | 'validateRemotely'
  | 'proxyTo'
  | 'file'
  | 'fileForm'
  | 'handle'
> &
  Partial<
    Pick<
      Route,
      | 'aliases'
      | 'docs'
      | 'resource'
      | 'cost'
      | 'description'
      | 'isConditional'
      | 'ownPagesOnly'
      | 'payloadField'
      | 'synonyms'
      | 'record'
      | 'fileAdvice'
      | 'alternative'
      | 'payloadOptional'
      | 'plainJson'
      | 'lines'
      | 'bypassExpress'
      | 'status'
      | 'contentTypes'
      | 'errorCodes'
      | 'publicNames'
      | 'readOnly'
      | 'sharedByGuests'
      | 'audited'
      | 'apiKeyParam'
      | 'optionsHeaders'
    >
  > & {
    params?: Params
    query?: Query
    payload?: Payload
  }

const VERBS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const
const EMPTY = z.object({})

/**
 * Declares a route. The resource defaults to the first path segment and the method, the cost to the
 * method's.
 *
 *     export const getMedia = route({
 *       get: ['/media/:mediaId'], operationId: 'getMedia', section: 'Media', access: 'user', summary: 'Read a media',
 *       params: z.object({ mediaId: id('media') }), response: MediaResponse,
 *       async handle({ params }, { services, call }) { return mediaResponse((await services.media.getMedia(params, call)).media) },
 *     })
 */
export function route<
  Params extends Shape = typeof EMPTY,
  Query extends Shape = typeof EMPTY,
  Payload extends PayloadShape = typeof EMPTY,
  ResponseSchema extends z.ZodType = z.ZodType,
>(declared: RouteDeclaration<Params, Query, Payload, ResponseSchema>): Route {
  const verb = VERBS.find((v) => declared[v] !== undefined)
  const paths = verb && declared[verb]
  const first = paths?.[0]
  if (!verb || !paths || !first) throw new Error(`a route without verb and path: ${declared.summary}`)
  const publicNames = { ...(declared.query?.shape['cursor'] && PAGE_NAMES), ...declared.publicNames }
  const complete: Route<Params, Query, Payload, ResponseSchema> = {
    verb,
    paths,
    aliases: declared.aliases ?? [],
    docs: declared.docs ?? {},
    operationId: declared.operationId,
    section: declared.section,
    access: declared.access,
    resource: declared.resource ?? `${first.split('/')[1]}::${verb}`,
    cost: declared.cost ?? (verb === 'get' || verb === 'head' ? 'read' : 'write'),
    summary: declared.summary,
    description: declared.description ?? '',
    // The default value applies exactly when the type parameter has its default.
    params: declared.params ?? (EMPTY as unknown as Params),
    query: declared.query ?? (EMPTY as unknown as Query),
    payload: declared.payload,
    ...(declared.payloadField !== undefined && { payloadField: declared.payloadField }),
    ...(declared.synonyms && { synonyms: declared.synonyms }),
    ...(declared.record && { record: declared.record }),
    ...(declared.fileAdvice !== undefined && { fileAdvice: declared.fileAdvice }),
    ...(declared.alternative !== undefined && { alternative: declared.alternative }),
    isConditional: declared.isConditional ?? false,
    ownPagesOnly: declared.ownPagesOnly ?? false,
    payloadOptional: declared.payloadOptional ?? false,
    plainJson: declared.plainJson ?? false,
    ...(declared.lines && { lines: declared.lines }),
    bypassExpress: declared.bypassExpress ?? false,
    status: declared.status ?? 200,
    response: declared.response,
    contentTypes: declared.contentTypes ?? ['application/json'],
    errorCodes: declared.errorCodes ?? {},
    publicNames,
    readOnly: declared.readOnly ?? true,
    sharedByGuests: declared.sharedByGuests ?? false,
    audited: declared.audited ?? ((verb !== 'get' && verb !== 'head') || declared.readOnly === false),
    ...(declared.apiKeyParam && { apiKeyParam: declared.apiKeyParam }),
    ...(declared.guestCacheRule && { guestCacheRule: declared.guestCacheRule }),
    ...(declared.fastParse && { fastParse: declared.fastParse }),
    ...(declared.validateRemotely && { validateRemotely: declared.validateRemotely }),
    ...(declared.proxyTo && { proxyTo: declared.proxyTo }),
    ...(declared.file && { file: declared.file }),
    ...(declared.fileForm && { fileForm: declared.fileForm }),
    ...(declared.optionsHeaders && { optionsHeaders: declared.optionsHeaders }),
    handle:
      Object.keys(publicNames).length === 0
        ? declared.handle
        : (input, context) => withPublicNames(publicNames, declared.handle(input, context)),
  }
  // The table contains routes with different schemas. Each handler only receives what its own schemas
  // parsed.
  return complete as unknown as Route
}
