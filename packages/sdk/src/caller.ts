import { invalidArgument } from './error.ts'
import { operations } from './gen/operations.ts'
import type { CallArguments, CallOptions, OperationId, PagedOperationId, RawBody, Result } from './operation.ts'
import { type ItemOf, listItems, type PageIterator, readNextPage, toPageIterator } from './page-iterator.ts'
import { readBody, type Transport } from './transport.ts'

/** Calls operations of the API by their id. */
export interface Caller {
  /** Default of `organisation_id`. */
  readonly organisationId: string | undefined
  /**
   * Calls an operation and returns its result. Throws a `VitascopeError`. See `CallArguments` for the
   * arguments. A POST has an `Idempotency-Key`.
   */
  call<Id extends OperationId>(id: Id, ...args: Arguments<Id>): Promise<Result<Id>>
  /** Returns the items of all pages of a list. Requests are sent while the items are read. */
  list<Id extends PagedOperationId>(id: Id, ...args: Arguments<Id>): PageIterator<ItemOf<Result<Id>>, Result<Id>>
}

/** The arguments can be omitted if none of them is required. */
export type Arguments<Id extends OperationId> =
  Partial<CallArguments<Id>> extends CallArguments<Id> ? [args?: CallArguments<Id>] : [args: CallArguments<Id>]

interface AnyArguments extends CallOptions {
  path?: Record<string, string | number> | undefined
  query?: Record<string, unknown> | undefined
  payload?: unknown
  body?: RawBody | undefined
  contentType?: string | undefined
}

/**
 * Operations whose second execution has another effect or result than the first. They are not
 * repeated when the response is lost.
 */
const NOT_REPEATABLE: ReadonlySet<OperationId> = new Set<OperationId>([
  'addVideoToPlaylist',
  'completeOidcSignIn',
  'completePasskeySignIn',
  'createPlaylistByPut',
  'generateId',
  'regenerateApiKey',
  'registerPasskey',
  'removeVideoFromPlaylist',
  'removeVideoFromPlaylistByPut',
  'takeQueueJob',
  'uploadVideoWithJsonp',
  'useSignInLink',
])

export function createCaller(transport: Transport, organisationId: string | undefined): Caller {
  const send = <T>(id: OperationId, args: AnyArguments, read: Parameters<typeof transport.send<T>>[1]) => {
    const { method, path, acceptsOrganisation } = findOperation(id)
    const { signal, timeoutMs, idempotencyKey, body, contentType, ifMatch, onResponse } = args
    const organisation = organisationId !== undefined && acceptsOrganisation ? { organisation_id: organisationId } : {}
    const query = method === 'GET' ? { ...organisation, ...args.query } : args.query
    const isRecord = isObject(args.payload ?? {}) && !Array.isArray(args.payload)
    const payload = method === 'POST' && isRecord ? { ...organisation, ...(args.payload as object) } : args.payload
    const hasPayload =
      body === undefined && (args.payload !== undefined || (method === 'POST' && Object.keys(payload as object).length > 0))
    if (method === 'POST' && idempotencyKey !== undefined && !/^.{1,255}$/.test(idempotencyKey)) {
      throw invalidArgument('idempotencyKey must have 1 to 255 characters.')
    }
    return transport.send(
      {
        ...{ method, operation: id, signal, timeoutMs, onResponse },
        path: `/v2${fillPath(id, path, { ...(organisationId !== undefined && { organisation_id: organisationId }), ...args.path })}${toQuery(query)}`,
        headers: {
          ...(hasPayload && { 'content-type': 'application/json' }),
          ...(contentType !== undefined && { 'content-type': contentType }),
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
          ...(method === 'POST' && { 'idempotency-key': idempotencyKey ?? createIdempotencyKey() }),
        },
        body: hasPayload ? JSON.stringify(payload) : (body ?? null),
        isRepeatable: method !== 'PATCH' && !NOT_REPEATABLE.has(id),
      },
      read,
    )
  }

  const call = async <Id extends OperationId>(id: Id, ...[args = {}]: AnyArguments[]) => (await send(id, args, readBody)) as Result<Id>

  return {
    organisationId,
    call,
    list: <Id extends PagedOperationId>(id: Id, ...[args = {}]: AnyArguments[]) =>
      toPageIterator<ItemOf<Result<Id>>, Result<Id>>(
        (position) =>
          send(id, { ...args, query: { ...args.query, ...position } }, async (response, name) => ({
            page: (await readBody(response, name)) as Result<Id>,
            next: readNextPage(response.headers.get('link')),
          })),
        listItems,
      ),
  } as Caller
}

/** Returns a key for `Idempotency-Key`. `crypto.randomUUID` does not exist on pages without https. */
export function createIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Each line of the table is the method, the path and `+`, if the query or a new record has `organisation_id`. */
function findOperation(id: OperationId) {
  const line: string | undefined = Object.hasOwn(operations, id) ? operations[id] : undefined
  if (line === undefined) throw invalidArgument(`This version of the client does not know the operation ${id}.`)
  const [method = '', path = '', mark] = line.split(' ')
  return { method, path, acceptsOrganisation: mark === '+' }
}

function fillPath(id: OperationId, template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined || value === '') {
      throw invalidArgument(`${id} requires ${name}.${name === 'organisation_id' ? ' Set the option organisationId.' : ''}`)
    }
    // A URL parser removes these segments, even if they are encoded.
    if (/^\.\.?$/.test(String(value))) throw invalidArgument(`${name} of ${id} must not be "${value}".`)
    return encodeURIComponent(value)
  })
}

/** Undefined parameters are omitted. A list or an object is sent as JSON. */
function toQuery(query: Record<string, unknown> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, isObject(value) ? JSON.stringify(value) : String(value)]],
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
