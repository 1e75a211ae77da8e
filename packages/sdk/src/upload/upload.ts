import type { Caller } from '../caller.ts'
import { createIdempotencyKey } from '../caller.ts'
import { VitascopeError } from '../error.ts'
import { createTransport, type Transport, type TransportOptions } from '../transport.ts'
import { type TransferOptions, TUS, type UploadedVideo, uploadByTus } from './tus-upload.ts'
import { toUploadSource, type UploadInput, type UploadSource } from './upload-source.ts'

/** Options of an upload with an API key. */
export interface UploadOptions extends TransferOptions {
  /** File name, at most 255 characters. Default: the name of the file, or `video`. */
  filename?: string | undefined
  /** Title of the video and its media. Default: the file name. */
  title?: string | undefined
  /** Default: `public`. */
  visibility?: 'public' | 'unlisted' | 'private' | undefined
  /**
   * Replaces the source of the media with this id, instead of creating a video. The result has the id
   * of the first video of the media. `title` and `visibility` have no effect then.
   */
  mediaId?: string | undefined
  /** Required with a system key. Default: `organisationId` of the client, or the organisation of the key. */
  organisationId?: string | undefined
  /**
   * Continues the upload with this id, which `onStart` has reported. The source must be the same. If the
   * platform has removed the upload, the source is sent from its start as a new upload. The platform
   * removes an upload after a day without progress.
   */
  uploadId?: string | undefined
  /**
   * Called once with the id of the upload before the first byte is sent. Store it to continue after a
   * restart. With `uploadId`, it is another id if a new upload was created.
   */
  onStart?: ((uploadId: string) => void) | undefined
}

const UPLOADS = '/v2/upload/tus'

/** Uploads a source as a new video, or as the source of a media. See `Videos.upload`. */
export async function uploadSource(
  transport: Transport,
  caller: Pick<Caller, 'organisationId'>,
  source: UploadSource,
  options: UploadOptions,
): Promise<UploadedVideo> {
  const {
    organisationId = caller.organisationId,
    filename = source.filename,
    title,
    visibility,
    mediaId,
    uploadId,
    onStart,
    signal,
  } = options
  const endpoint = mediaId === undefined ? UPLOADS : `/v2/media/${encodeURIComponent(mediaId)}/upload`
  const metadata = { organisation_id: organisationId, filename, title, visibility }
  try {
    return await uploadByTus(
      {
        transport,
        path: uploadId === undefined ? undefined : `${UPLOADS}/${encodeURIComponent(uploadId)}`,
        create: async () => `${UPLOADS}/${encodeURIComponent(await createUpload(transport, endpoint, source, metadata, signal))}`,
        onOpen: (path) => onStart?.(decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))),
      },
      source,
      options,
    )
  } finally {
    await source.close()
  }
}

/** Options of an upload to a ticket. */
export interface TicketUploadOptions extends TransferOptions, Pick<TransportOptions, 'fetch' | 'timeoutMs'> {
  /** File name. Default: the name of the file. */
  filename?: string
  /** Content type, such as `video/mp4`. Default: that of a Blob. */
  contentType?: string
}

/**
 * Uploads a file from a browser or a phone, without an API key. `url` is that of
 * `videos.createUploadTicket`, which your server has requested. Continues after interruptions.
 * Returns the video. Throws a `VitascopeError`, such as `ticket_used`, `ticket_expired` or
 * `upload_too_large`.
 */
export async function uploadToTicket(
  url: string | URL,
  input: Exclude<UploadInput, URL | string>,
  options: TicketUploadOptions = {},
): Promise<UploadedVideo> {
  const address = new URL(url)
  const transport = createTransport({ url: address.origin, fetch: options.fetch, timeoutMs: options.timeoutMs })
  const source = toUploadSource(input)
  const { filename = source.filename, contentType = input instanceof Blob && input.type !== '' ? input.type : undefined } = options
  const path = address.pathname + address.search
  const create = async () => {
    await createUpload(transport, path, source, { filename, filetype: contentType }, options.signal)
    return path
  }
  try {
    return await uploadByTus({ transport, path: undefined, create, onOpen: () => {} }, source, options)
  } finally {
    await source.close()
  }
}

/**
 * Creates an upload and returns its id. A request that is repeated after a lost response returns the upload of the first
 * one, because both have the same `Idempotency-Key`.
 */
async function createUpload(
  transport: Transport,
  path: string,
  { size }: UploadSource,
  metadata: Record<string, string | undefined>,
  signal: AbortSignal | undefined,
): Promise<string> {
  const pairs = Object.entries(metadata).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name} ${toBase64(value)}`],
  )
  const headers = {
    ...TUS,
    'idempotency-key': createIdempotencyKey(),
    ...(size === undefined ? { 'upload-defer-length': '1' } : { 'upload-length': String(size) }),
    ...(pairs.length > 0 && { 'upload-metadata': pairs.join(',') }),
  }
  return transport.send(
    { method: 'POST', path, operation: 'uploads by tus', headers, signal, isRepeatable: true },
    async (response, { origin }) => {
      const id = response.headers.get('location')?.split('?')[0]?.split('/').at(-1)
      if (id) return id
      throw new VitascopeError(`A proxy before ${origin} removed the header Location of an upload.`, { code: 'not_vitascope' })
    },
  )
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
