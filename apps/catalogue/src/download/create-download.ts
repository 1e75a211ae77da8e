import { DomainError, invalid, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { CreateDownloadRequest } from '@vitascope/proto/catalogue/v1/download'
import type { FindSourceResponse } from '@vitascope/proto/encoding/v1/job'
import { firstCharacters } from '@vitascope/request'
import { signVideoToken, type TokenDownload, type TokenKeyFile } from '@vitascope/security'
import type { Video } from '../video/video.ts'
import type { VideoStore } from '../video/video-store.ts'
import { readTokenLimits } from '../video/video-token.ts'

/** Limits the length of the URL, which contains the token, which contains the name. */
const MAX_NAME_CHARACTERS = 100

/** A file that can be saved with a token. */
export interface Download {
  token: string
  deliveryVersion: string
  /** Last segment of the URL, such as `h264_1200.mp4`. */
  file: string
  /** Name under which browsers save the file. */
  filename: string
  bytes: number | undefined
  expireTime: Date
}

/** A file of a video, before its token is signed. */
interface File {
  file: string
  filename: string
  bytes: number | undefined
  location: { path: string } | { object: string }
}

type DownloadCall = Pick<Call, 'requestId' | 'signal'>

export interface DownloadTools {
  db: Db
  videos: VideoStore
  tokenKeys: TokenKeyFile
  /** Returns the source of a job. Throws SOURCE_NOT_FOUND if it was not kept. */
  findSource(jobId: string, call: DownloadCall): Promise<FindSourceResponse>
}

/** Returns a function that signs a token with which one file of a video can be saved. */
export function createDownloads({ db, videos, tokenKeys, findSource }: DownloadTools) {
  return async (scope: Scope, request: CreateDownloadRequest, call: DownloadCall): Promise<Download> => {
    const { videoId } = request
    const video = await videos.find(scope, videoId, call.signal)
    if (!video) throw notFound('video', videoId)
    const limits = readTokenLimits(request)
    if (!request.file) throw invalid([{ field: 'file', message: 'is required' }])
    const found = request.file.$case === 'original' ? await findOriginal(video) : findFile(video, request.file)
    const { location, ...file } = found
    const download: TokenDownload = { ...location, name: file.filename }
    const token = await signVideoToken({ videoId, download, ...limits }, tokenKeys.current())
    return { ...file, token, deliveryVersion: video.deliveryVersion, expireTime: limits.expires }

    async function findOriginal({ renditions, deliveryVersion }: Video): Promise<File> {
      if (!renditions || deliveryVersion === '') throw fileNotFound('original')
      const { object, bytes } = await findSource(renditions.jobId, call)
      const [row] = await db.query<{ original_filename: string }>(
        'select m.original_filename from media m join video v using (media_id) where v.video_id = $1',
        [videoId],
      )
      const [, name = '', ending = ''] = /^(.*?)(\.[A-Za-z0-9]{1,8})?$/s.exec(row?.original_filename ?? '') ?? []
      return { file: `original${ending}`, filename: toFilename(name, ending), bytes, location: { object } }
    }
  }
}

function findFile(
  { renditions: set, deliveryVersion, title, captions }: Video,
  requested: NonNullable<CreateDownloadRequest['file']>,
): File {
  if (!set || deliveryVersion === '') throw fileNotFound('file')
  const folder = set.hlsPath.slice(0, set.hlsPath.lastIndexOf('/') + 1)
  if (requested.$case === 'allCaptions') {
    if (captions.length === 0) throw fileNotFound('captions')
    const location = { path: `${folder}captions.zip` }
    return { file: 'captions.zip', filename: toFilename(title, '.captions.zip'), bytes: undefined, location }
  }
  if (requested.$case === 'captionId') {
    const caption = captions.find(({ captionId }) => captionId === requested.value)
    if (!caption) throw fileNotFound(`caption ${requested.value}`)
    const location = { path: `${folder}captions/${caption.captionId}.vtt` }
    return { file: `${caption.captionId}.vtt`, filename: toFilename(`${title} ${caption.language}`, '.vtt'), bytes: undefined, location }
  }
  if (requested.$case === 'sound') {
    if (set.soundPath === '') throw fileNotFound('audio')
    return { file: 'audio.m4a', filename: toFilename(title, '.m4a'), bytes: undefined, location: { path: set.soundPath } }
  }
  const key = requested.$case === 'rendition' ? requested.value : ''
  const rendition = set.renditions.find((one) => one.key === key)
  if (!rendition?.path) throw fileNotFound(`rendition ${key}`)
  return { file: `${key}.mp4`, filename: toFilename(title, '.mp4'), bytes: rendition.bytes, location: { path: rendition.path } }
}

/**
 * Returns a name without characters that file systems reject. The title of a video is often the name of its file, so an
 * ending that it already has is not repeated.
 */
function toFilename(name: string, ending: string): string {
  const hasEnding = ending !== '' && name.toLowerCase().endsWith(ending.toLowerCase())
  const safe = (hasEnding ? name.slice(0, -ending.length) : name).replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]/gu, '_').trim()
  return `${firstCharacters(safe, MAX_NAME_CHARACTERS) || 'video'}${ending}`
}

function fileNotFound(what: string): DomainError {
  return new DomainError('not_found', 'FILE_NOT_FOUND', `the video has no ${firstCharacters(what, MAX_NAME_CHARACTERS)}`)
}
