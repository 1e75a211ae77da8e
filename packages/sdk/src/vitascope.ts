import { Analytics } from './analytics.ts'
import { type Arguments, type Caller, createCaller } from './caller.ts'
import { invalidArgument } from './error.ts'
import { Jobs } from './jobs.ts'
import type { OperationId, PagedOperationId, Result } from './operation.ts'
import type { ItemOf, PageIterator } from './page-iterator.ts'
import { Playback } from './playback.ts'
import { Playlists } from './playlists.ts'
import type { PlaybackKey } from './sign-playback-token.ts'
import { createTransport } from './transport.ts'
import { type OpenFile, Videos } from './videos.ts'
import { Webhooks } from './webhooks.ts'

export interface VitascopeOptions {
  /** Address of the platform, such as `https://video.example.org`, with or without `/v2`. */
  url: string
  /** API key. Without a key, calls are those of a guest. */
  key?: string | undefined
  /** Id of the organisation for calls that name one. A system key and reports require it. */
  organisationId?: string | undefined
  /** Key for `playback.sign`. */
  playbackKey?: PlaybackKey | undefined
  /** Replacement of the global `fetch`. */
  fetch?: typeof fetch | undefined
  /**
   * `same-origin` sends the cookie of a session, for pages of the platform itself whose users have signed in.
   * Default: `omit`.
   */
  credentials?: 'omit' | 'same-origin' | undefined
  /** Milliseconds for one attempt, including its body. Default: 60,000. */
  timeoutMs?: number | undefined
  /**
   * Number of retries of a call, 0 to 3. Default: 3. A 429 or 503 is repeated after its `Retry-After` of
   * at most 60 s. A call without a response is repeated, unless it is a PATCH, which could then take effect twice.
   */
  maxRetries?: number | undefined
}

/** Client of a Vitascope platform. The constructor sends no request. It throws `invalid_argument` for an invalid option. */
export class Vitascope {
  readonly videos: Videos
  readonly playlists: Playlists
  readonly webhooks: Webhooks
  readonly playback: Playback
  readonly analytics: Analytics
  readonly jobs: Jobs
  readonly #api: Caller

  constructor(options: VitascopeOptions)
  /** @internal */
  constructor(options: VitascopeOptions, openFile: OpenFile)
  constructor(options: VitascopeOptions, openFile: OpenFile = rejectPath) {
    const transport = createTransport(options)
    this.#api = createCaller(transport, options.organisationId)
    this.videos = new Videos(this.#api, transport, openFile)
    this.playlists = new Playlists(this.#api)
    this.webhooks = new Webhooks(this.#api)
    this.playback = new Playback(this.#api, options.playbackKey)
    this.analytics = new Analytics(this.#api)
    this.jobs = new Jobs(this.#api)
  }

  /**
   * Calls any operation of the API by its id, and returns its result:
   *
   *     await vitascope.call('createFolder', { payload: { name: 'Trailers' } })
   *
   * Ids, parameters and results are those of `/docs` of a platform. Throws a `VitascopeError`.
   */
  call<Id extends OperationId>(id: Id, ...args: Arguments<Id>): Promise<Result<Id>> {
    return this.#api.call(id, ...args)
  }

  /** Returns the items of all pages of any operation with pages. */
  list<Id extends PagedOperationId>(id: Id, ...args: Arguments<Id>): PageIterator<ItemOf<Result<Id>>, Result<Id>> {
    return this.#api.list(id, ...args)
  }
}

async function rejectPath(): Promise<never> {
  throw invalidArgument('A browser cannot open a path. Pass a File or a Blob.')
}
