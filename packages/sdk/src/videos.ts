import type { Caller } from './caller.ts'
import { VitascopeError } from './error.ts'
import type { CallOptions, Payload, Query, Result, Schemas } from './operation.ts'
import type { PageIterator } from './page-iterator.ts'
import type { Transport } from './transport.ts'
import type { UploadedVideo } from './upload/tus-upload.ts'
import { type UploadOptions, uploadSource } from './upload/upload.ts'
import { toUploadSource, type UploadInput, type UploadSource } from './upload/upload-source.ts'
import { type PollOptions, poll } from './wait.ts'

/** A video of the platform. */
export type Video = Schemas['Video']
/** Opens the file of a path. Only the entry point of Node.js has one. */
export type OpenFile = (path: string | URL) => Promise<UploadSource>

export interface WaitOptions extends PollOptions {
  /** `ready` waits for all files. `playable` returns as soon as `uri.hls` can be played. Default: `ready`. */
  until?: 'ready' | 'playable'
  /** Called with the video after each request, for example to show `status.progress`. */
  onProgress?: (video: Video) => void
}

/** Videos: upload, read, change and delete. */
export class Videos {
  readonly #api: Caller
  readonly #transport: Transport
  readonly #openFile: OpenFile

  /** @internal */
  constructor(api: Caller, transport: Transport, openFile: OpenFile) {
    this.#api = api
    this.#transport = transport
    this.#openFile = openFile
  }

  /**
   * Creates a video from a URL, which the platform fetches after the response. With `media_id`, it
   * replaces the source of a media. Returns the id of the video and of its encode job. Throws
   * `invalid_input` for an address that the platform may not fetch.
   */
  create(fields: Payload<'uploadVideo'> & { url: string }, options: CallOptions = {}): Promise<Result<'uploadVideo'>> {
    return this.#api.call('uploadVideo', { ...options, payload: fields })
  }

  /**
   * Uploads a file, bytes or a stream as a new video, and returns its id. With `mediaId`, it replaces
   * the source of a media. In Node.js, a text is the path of a file. An `http:` or `https:` URL is fetched by the platform instead, without progress.
   *
   * The upload continues after interruptions, for at most `maxOutageMs` without stored bytes. A stream
   * keeps at most 16 MiB in memory. To continue after a restart of the program, store the id of
   * `onStart` and pass it as `uploadId` with the same source. If the platform has removed that upload, which
   * it does after a day without progress, the source is sent from its start, and `onStart` reports the new id.
   *
   * Throws `media_not_found`, `upload_too_large`, `quota_bytes`, `quota_minutes`, `too_many_uploads`, `source_changed`, or
   * `network_error` after `maxOutageMs`. Fails with the reason of the signal after an abort. The platform
   * then deletes the incomplete upload within a day.
   */
  async upload(input: UploadInput, options: UploadOptions = {}): Promise<UploadedVideo> {
    const { organisationId, title, visibility, mediaId, signal } = options
    if (isWebAddress(input)) {
      const payload = {
        url: String(input),
        ...(organisationId !== undefined && { organisation_id: organisationId }),
        ...(title !== undefined && { name: title }),
        ...(visibility !== undefined && { visibility }),
        ...(mediaId !== undefined && { media_id: mediaId }),
      }
      const { id, job_id } = await this.#api.call('uploadVideo', { payload, signal })
      return { id, job_id }
    }
    const source = typeof input === 'string' || input instanceof URL ? await this.#openFile(input) : toUploadSource(input)
    return uploadSource(this.#transport, this.#api, source, options)
  }

  /**
   * Waits until a video is encoded, and returns it. A video stays ready while its source is replaced: wait with
   * `jobs.waitUntilEnded` for that. Throws `encoding_failed` with the code of the job
   * in `detail`, `wait_timeout`, or `video_not_found`. A state that this version does not know
   * counts as active.
   */
  async waitUntilReady(videoId: string, options: WaitOptions = {}): Promise<Video> {
    const { until = 'ready', onProgress = () => {}, ...polling } = options
    return poll(
      () => this.get(videoId, { signal: polling.signal }),
      (video) => {
        onProgress(video)
        const { status, code } = video.status
        if (status === 'failed') {
          throw new VitascopeError(`The video ${videoId} cannot be encoded (code ${code}).`, {
            code: 'encoding_failed',
            detail: `code ${code}; see the error codes of jobs`,
          })
        }
        return status === 'ok' || (until === 'playable' && video.uri.hls !== '')
      },
      ({ status: { status, progress } }, timeoutMs) =>
        `The video ${videoId} is not ready after ${timeoutMs} ms (${status}, ${progress} %).`,
      polling,
    )
  }

  /** Returns a video. Throws `video_not_found`, or `video_expired` for a guest. */
  get(videoId: string, options: CallOptions = {}): Promise<Video> {
    return this.#api.call('getVideo', { ...options, path: { video_id: videoId } })
  }

  /**
   * Lists the videos that match all filters: of the organisation, or of all organisations with a system
   * key. `limit` is the size of a page, at most 20, which is the default.
   */
  list(query: Query<'listVideos'> = {}, options: CallOptions = {}): PageIterator<Video, Result<'listVideos'>> {
    return this.#api.list('listVideos', { ...options, query: { limit: 20, ...query } })
  }

  /** Changes the fields that are sent. Throws `video_not_found` or `invalid_input`. */
  async update(videoId: string, fields: Payload<'updateVideo'>, options: CallOptions = {}): Promise<void> {
    await this.#api.call('updateVideo', { ...options, path: { video_id: videoId }, payload: fields })
  }

  /**
   * Deletes the media of a video: its files, and all other videos of the same media. To keep the media,
   * call the operation `deleteVideo` with a system key. A system key requires `userId`, the user for whom
   * it deletes. Throws `video_not_found`.
   */
  async delete(videoId: string, { userId, ...options }: CallOptions & { userId?: string | undefined } = {}): Promise<void> {
    const { media_id } = await this.get(videoId, options)
    await this.#api.call('deleteMedia', { ...options, payload: { media_id, ...(userId !== undefined && { user_id: userId }) } })
  }

  /**
   * Returns a signed address for one file, which a browser or a phone uploads without a key:
   * `uploadToTicket(ticket.url, file)`. The address is a secret until the file has arrived.
   */
  createUploadTicket(fields: Payload<'createUploadTicket'> = {}, options: CallOptions = {}): Promise<Result<'createUploadTicket'>> {
    return this.#api.call('createUploadTicket', { ...options, payload: fields })
  }
}

function isWebAddress(input: UploadInput): boolean {
  return input instanceof URL ? /^https?:$/.test(input.protocol) : typeof input === 'string' && /^https?:\/\//i.test(input)
}
