import type { Call } from '@vitascope/grpc'
import { z } from 'zod'
import type { Caller } from './caller.ts'
import type { PayloadShape } from './payload/payload-shape.ts'
import type { Services } from './services.ts'

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head'

/**
 * Who may call:
 * - `public`: anybody; a key that is sent must be good, and counts only with the route's resource and in its own organisation
 * - `user`: keys of every user (uploader, standard, system)
 * - `super`: keys of super users (standard) and of system users
 * - `system`: keys of system users
 */
export type Access = 'public' | 'user' | 'super' | 'system'

/**
 * What a request costs its caller's budget: a cheap read, a write, or something that begins long work. What players tell (`event`) has a
 * budget of its own: a school behind one address is no burst of one caller.
 */
export type Cost = 'read' | 'write' | 'work' | 'event'

/** Shape of a path or query. */
type Shape = z.ZodObject

/** Everything that a route's handler is given beside its input. */
export interface Context {
  caller: Caller
  /** Goes along with every call to a service: principal, request id, signal, deadline, idempotency. */
  call: Call
  services: Services
  /** What generated addresses begin with, without a slash at the end. */
  publicUrl: string
  /** What a source's address itself shows to be wrong: sentences for the field that held it; empty when nothing is. */
  checkSource: (url: string) => readonly string[]
  /** Counts a try of the caller's address at the password of a video; refuses with 429 when it is one too many. */
  takePasswordTry: (videoId: string) => Promise<void>
  /** Counts what the caller's address sends by a contact form; refuses with 429 when it is one too many. */
  takeSubmission: (contactFormId: string) => Promise<void>
  /** Where the request comes from, and by which program; neither is stored. */
  from: { address: string; userAgent: string }
}

/** One line of the table of routes. Paths are written as Express has them, below `/v2`: `/video/:videoId`. */
export interface Route<
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Payload extends PayloadShape = PayloadShape,
  Answer extends z.ZodType = z.ZodType,
> {
  verb: Verb
  /** The documented path first, then its other spellings. */
  paths: readonly string[]
  /** Other verbs and paths for the same operation, under the same access rules and the same resource. */
  aliases: readonly { verb: Verb; path: string }[]
  /** The section of the interface document, or `Added`. */
  section: string
  access: Access
  /** The ACL resource: first path segment and verb of the heading, `video::post`. */
  resource: string
  cost: Cost
  /** One line for the docs. */
  summary: string
  /** More for the docs, as Markdown. */
  description: string
  params: Params
  query: Query
  /**
   * Fields of the payload, whichever of the three forms it came in; absent for routes that take none. It may also be a record of any names
   * (`z.record`) or a list (`z.array`, with a `max`): then flat fields are the one item of it, if items have fields.
   */
  payload: Payload | undefined
  /** The field in which a list may also stand, in JSON and in forms: `order` of `{"order": [3, 1, 2]}`. */
  payloadField?: string
  /** True when the payload may not be there at all; its fields' defaults then count. */
  payloadOptional: boolean
  /** True where JSON may also come as `text/plain`, as `sendBeacon` sends it without asking first. */
  plainJson: boolean
  /**
   * Takes a payload in place of the schema, where it is told so often that the schema's cost counts: answers to the value of a JSON text written as
   * programs write it (`parsePlainJson`) what the schema would answer, and undefined where it would refuse, change a value, or is not sure.
   */
  readPlain?(value: unknown): z.output<Payload> | undefined
  /** True where requests of the documented path are answered in front of Express: for what is asked more often than all else. The path has no parameters. */
  direct: boolean
  /** Status of success. */
  status: number
  answer: Answer
  /** Content types of success; all but JSON are texts, whatever `answer` says. */
  types: readonly string[]
  /** Stable codes of the refusals that only this route has, for the docs: `{ only_publish: 'it is the only publish of its media' }`. */
  refusals: Readonly<Record<string, string>>
  /** False where GET changes or makes something: HEAD is then 405 and nothing is cached. */
  safe: boolean
  /** True where a call stands in the audit log: what is no safe GET, but for what stores no record. */
  audited: boolean
  /** The query parameter that brings the key where no header can, as in a `<script>`; the header works too. */
  keyFromQuery?: 'api_key'
  /**
   * Has the service judge, and change nothing, when fields of the payload are bad in themselves: it is given the others and the names of
   * the bad ones, and what it refuses is named too. For routes whose service knows more than the schema.
   */
  judge?(
    sent: { params: z.output<Params>; payload: Partial<z.output<Payload>>; bad: ReadonlySet<string> },
    context: Context,
  ): Promise<unknown>
  /**
   * Where encoding takes the request itself, body and all: the path there, as this one's parameters give it. Its body is no payload, has limits of
   * its own, and `handle` is never called.
   */
  passOn?(params: z.output<Params>): string
  /** What OPTIONS tells besides the verbs. */
  optionsHeaders?: Readonly<Record<string, string>>
  handle(
    input: { params: z.output<Params>; query: z.output<Query>; payload: z.output<Payload> },
    context: Context,
  ): Promise<z.input<Answer> | Reply | Streamed>
}

/** An answer that is sent as it comes; what goes wrong after its first part cuts the connection, so that nobody takes a part for all. */
export class Streamed {
  readonly parts: AsyncIterable<Uint8Array>
  readonly headers: Readonly<Record<string, string>>

  constructor(parts: AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>>) {
    this.parts = parts
    this.headers = headers
  }
}

/** An answer that is not plain JSON, or has a status or headers of its own. */
export class Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | object

  constructor(body: string | object, more: { status?: number; headers?: Readonly<Record<string, string>> } = {}) {
    this.body = body
    this.status = more.status ?? 200
    this.headers = more.headers ?? {}
  }
}

/** How a route is written down: one of the verbs with its paths, and whatever differs from the defaults. */
export type RouteDeclaration<Params extends Shape, Query extends Shape, Payload extends PayloadShape, Answer extends z.ZodType> = {
  [V in Verb]?: readonly string[]
} & Pick<Route<Params, Query, Payload, Answer>, 'section' | 'access' | 'summary' | 'answer' | 'readPlain' | 'judge' | 'passOn' | 'handle'> &
  Partial<
    Pick<
      Route,
      | 'aliases'
      | 'resource'
      | 'cost'
      | 'description'
      | 'payloadField'
      | 'payloadOptional'
      | 'plainJson'
      | 'direct'
      | 'status'
      | 'types'
      | 'refusals'
      | 'safe'
      | 'audited'
      | 'keyFromQuery'
      | 'optionsHeaders'
    >
  > & {
    params?: Params
    query?: Query
    payload?: Payload
  }

const VERBS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const
const NOTHING = z.object({})

/**
 * Declares a route. The resource follows from the first path segment and the verb, the cost from the verb.
 *
 *     export const getMedia = route({
 *       get: ['/media/:mediaId'], section: 'Media', access: 'user', summary: 'Read a media',
 *       params: z.object({ mediaId: id('media') }), answer: MediaAnswer,
 *       async handle({ params }, { services, call }) { return mediaView((await services.media.getMedia(params, call)).media) },
 *     })
 */
export function route<
  Params extends Shape = typeof NOTHING,
  Query extends Shape = typeof NOTHING,
  Payload extends PayloadShape = typeof NOTHING,
  Answer extends z.ZodType = z.ZodType,
>(declared: RouteDeclaration<Params, Query, Payload, Answer>): Route {
  const verb = VERBS.find((v) => declared[v] !== undefined)
  const paths = verb && declared[verb]
  const first = paths?.[0]
  if (!verb || !paths || !first) throw new Error(`a route without verb and path: ${declared.summary}`)
  const complete: Route<Params, Query, Payload, Answer> = {
    verb,
    paths,
    aliases: declared.aliases ?? [],
    section: declared.section,
    access: declared.access,
    resource: declared.resource ?? `${first.split('/')[1]}::${verb}`,
    cost: declared.cost ?? (verb === 'get' || verb === 'head' ? 'read' : 'write'),
    summary: declared.summary,
    description: declared.description ?? '',
    // The default stands in exactly where the type parameter is its default too.
    params: declared.params ?? (NOTHING as unknown as Params),
    query: declared.query ?? (NOTHING as unknown as Query),
    payload: declared.payload,
    ...(declared.payloadField !== undefined && { payloadField: declared.payloadField }),
    payloadOptional: declared.payloadOptional ?? false,
    plainJson: declared.plainJson ?? false,
    direct: declared.direct ?? false,
    status: declared.status ?? 200,
    answer: declared.answer,
    types: declared.types ?? ['application/json'],
    refusals: declared.refusals ?? {},
    safe: declared.safe ?? true,
    audited: declared.audited ?? ((verb !== 'get' && verb !== 'head') || declared.safe === false),
    ...(declared.keyFromQuery && { keyFromQuery: declared.keyFromQuery }),
    ...(declared.readPlain && { readPlain: declared.readPlain }),
    ...(declared.judge && { judge: declared.judge }),
    ...(declared.passOn && { passOn: declared.passOn }),
    ...(declared.optionsHeaders && { optionsHeaders: declared.optionsHeaders }),
    handle: declared.handle,
  }
  // The table holds routes of every shape; each one's handler only ever gets what its own schemas parsed.
  return complete as unknown as Route
}
