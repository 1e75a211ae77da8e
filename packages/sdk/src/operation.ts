import type { components, operations as Operations } from './gen/contract.ts'

/** Schemas of records and payloads by name, such as `Schemas['Video']`. */
export type Schemas = components['schemas']
/** Id of an operation of the API, such as `addVideoToPlaylist`. */
export type OperationId = keyof Operations

/** A body that is not JSON, such as the bytes of a picture. */
export type RawBody = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | FormData | string

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then fails with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Milliseconds for each attempt. Default: `timeoutMs` of the client. */
  timeoutMs?: number
  /**
   * Key with which a POST is executed once, for 24 hours. 1 to 255 characters. Default: a random key
   * for each call, so that retries of the client are safe. Set it to make your own retries safe.
   */
  idempotencyKey?: string
  /**
   * `ETag` of the record that the change is for. If the record has changed since then, the call fails with
   * `record_changed` and changes nothing. Videos, playlists, player settings, themes and overlays support it.
   */
  ifMatch?: string | undefined
  /** Called with each response with a status of 2xx, for example to read its `ETag`. The body must not be read. */
  onResponse?: ((response: Response) => void) | undefined
}

type Parameters<Id extends OperationId> = Operations[Id]['parameters']
type Body<Id extends OperationId> = Exclude<Operations[Id] extends { requestBody?: infer Value } ? Value : never, undefined>
type RequestContent<Id extends OperationId> = [Body<Id>] extends [{ content: infer Content }]
  ? [Body<Id>] extends [never]
    ? never
    : Content
  : never
type OptionalKeys<Value, Keys extends PropertyKey> = Keys extends keyof Value
  ? { [Name in keyof Value as Name extends Keys ? never : Name]: Value[Name] } & { [Name in Keys]?: Value[Name] }
  : Value
/** The client completes `organisation_id` from its options. */
type Path<Id extends OperationId> = Parameters<Id> extends { path: infer Values } ? OptionalKeys<Values, 'organisation_id'> : never
type QueryOf<Id extends OperationId> = Parameters<Id> extends { query?: infer Values } ? NonNullable<Values> : never
/** Query of an operation. */
export type Query<Id extends OperationId> = QueryOf<Id>
/** JSON payload of an operation. */
export type Payload<Id extends OperationId> = 'application/json' extends keyof RequestContent<Id>
  ? OptionalKeys<RequestContent<Id>['application/json'], 'organisation_id'>
  : never

type PathArgument<Id extends OperationId> = [Path<Id>] extends [never]
  ? { path?: never }
  : Partial<Path<Id>> extends Path<Id>
    ? { path?: Path<Id> }
    : { path: Path<Id> }
type QueryArgument<Id extends OperationId> = [QueryOf<Id>] extends [never]
  ? { query?: never }
  : Partial<QueryOf<Id>> extends QueryOf<Id>
    ? { query?: QueryOf<Id> }
    : { query: QueryOf<Id> }
type Raw = {
  /** A body that is not JSON, instead of `payload`. */
  body: RawBody
  /** Content type of `body`. Default: that of a Blob, of a form or of a text. */
  contentType?: string
}
type BodyArgument<Id extends OperationId> = [RequestContent<Id>] extends [never]
  ? { payload?: never; body?: never }
  : [Payload<Id>] extends [never]
    ? Raw & { payload?: never }
    :
        | (Operations[Id] extends { requestBody: unknown }
            ? Partial<Payload<Id>> extends Payload<Id>
              ? { payload?: Payload<Id>; body?: never }
              : { payload: Payload<Id>; body?: never }
            : { payload?: Payload<Id>; body?: never })
        | (Raw & { payload?: never })

/** Arguments of one operation: values of its path, query parameters and payload. */
export type CallArguments<Id extends OperationId> = CallOptions & PathArgument<Id> & QueryArgument<Id> & BodyArgument<Id>

type Content<Value> = {
  [Type in keyof Value]: Type extends 'application/json' ? Value[Type] : Type extends 'application/octet-stream' ? Blob : string
}[keyof Value]
type Success<Response> = Response extends { content: infer Value } ? Content<Value> : undefined
/** Result of one operation: parsed JSON, a text, a Blob, or undefined without a body. */
export type Result<Id extends OperationId> = Success<Operations[Id]['responses'][keyof Operations[Id]['responses']]>

/** Operations with pages. */
export type PagedOperationId = {
  [Id in OperationId]: Parameters<Id> extends { query?: infer Values } ? ('cursor' extends keyof NonNullable<Values> ? Id : never) : never
}[OperationId]
