import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { isUploadOver, type UploadedVideo } from '@vitascope/sdk'
import { type Context, UsageError } from '../context.ts'
import { formatBar, formatBytes, printRows } from '../output.ts'
import { readJson, writeJson } from '../settings.ts'

/** Files of folders that are uploaded. A file that is named itself is always uploaded. */
const MEDIA = /\.(mp4|m4v|mov|mkv|webm|avi|mpg|mpeg|ts|mts|m2ts|wmv|flv|ogv|3gp|mxf|mp3|m4a|wav|flac|ogg|aac)$/i

export interface UploadFlags {
  title?: string
  visibility?: 'public' | 'unlisted' | 'private'
  /** Id of the media whose source the file replaces. */
  replace?: string
  wait?: boolean
}

/** Uploads files, folders and URLs. A failure does not stop the others. Returns the number of failures. */
export async function upload(sources: readonly string[], flags: UploadFlags, context: Context): Promise<number> {
  const { output } = context
  const files = (await Promise.all(sources.map(listFiles))).flat()
  if (files.length === 0) throw new UsageError('no media files found')
  if (flags.title !== undefined && files.length > 1) throw new UsageError('--title is for a single file')
  if (flags.replace !== undefined) {
    if (files.length > 1) throw new UsageError('--replace is for a single file')
    if (flags.title !== undefined || flags.visibility !== undefined)
      throw new UsageError('--replace keeps the title and the visibility; use "vitascope videos update"')
  }
  const rows: Record<string, string>[] = []
  for (const file of files) {
    try {
      rows.push({ file, video_id: await uploadOne(file, flags, context), error: '' })
    } catch (error) {
      context.signal.throwIfAborted()
      rows.push({ file, video_id: '', error: error instanceof Error ? error.message : String(error) })
    }
  }
  printRows(output, rows, ['file', 'video_id', 'error'])
  return rows.filter(({ error }) => error !== '').length
}

async function uploadOne(file: string, { title, visibility, replace: mediaId, wait }: UploadFlags, context: Context): Promise<string> {
  const { vitascope, output, signal } = context
  const options = { signal, title, visibility, mediaId }
  const upload = await (isUrl(file) ? vitascope.videos.upload(new URL(file), options) : uploadFile(file, options, context))
  if (!wait) return upload.id
  const showProgress = (progress: number) => output.status(`${basename(file)}  encoding ${formatBar(progress / 100)}`)
  if (mediaId === undefined || upload.job_id === '') {
    await vitascope.videos.waitUntilReady(upload.id, { signal, onProgress: ({ status }) => showProgress(status.progress) })
    return upload.id
  }
  // The old files play meanwhile, so the video is ready all the time.
  const { job_id, state, error } = await vitascope.jobs.waitUntilEnded(upload.job_id, {
    signal,
    onProgress: ({ progress }) => showProgress(progress),
  })
  if (state !== 'ok') throw new Error(`job ${job_id} ${state}${error ? `: ${error.code} ${error.message}` : ''}`)
  return upload.id
}

/** Uploads a file, and continues the upload of an earlier run that was interrupted. */
async function uploadFile(
  file: string,
  options: { signal: AbortSignal; mediaId: string | undefined },
  context: Context,
): Promise<UploadedVideo> {
  const { vitascope, output, env, url } = context
  const { size, mtimeMs } = await stat(file)
  const started = performance.now()
  const store = join(env['XDG_STATE_HOME'] || join(homedir(), '.local/state'), 'vitascope/uploads.json')
  const purpose = options.mediaId === undefined ? '' : ` for media ${options.mediaId}`
  const name = `${url} ${resolve(file)} ${size} ${mtimeMs}${purpose}`
  const remember = async (uploadId: string | undefined) => {
    const { [name]: _, ...others } = await readJson(store)
    await writeJson(store, uploadId === undefined ? others : { ...others, [name]: uploadId })
  }
  const { [name]: known } = await readJson(store)
  let remembered: Promise<void> = Promise.resolve()
  const uploaded = vitascope.videos.upload(file, {
    ...options,
    uploadId: typeof known === 'string' ? known : undefined,
    onStart: (id) => {
      remembered = remember(id)
    },
    onProgress({ sentBytes, totalBytes = size }) {
      const rate = sentBytes / ((performance.now() - started) / 1_000)
      output.status(`${basename(file)}  ${formatBar(sentBytes / totalBytes)}  ${formatBytes(totalBytes)}  ${formatBytes(rate)}/s`)
    },
  })
  try {
    const video = await uploaded
    await remembered
    await remember(undefined)
    return video
  } catch (error) {
    await remembered
    if (isUploadOver(error)) await remember(undefined)
    throw error
  }
}

async function listFiles(source: string): Promise<string[]> {
  if (isUrl(source)) return [source]
  const found = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${source} cannot be read: ${error.code ?? error.message}`)
  })
  if (!found.isDirectory()) return [source]
  const entries = await readdir(source, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && MEDIA.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source)
}
