import { type UploadedVideo, type Vitascope, VitascopeError } from '@vitascope/sdk'
import { toMessage } from '../api/client.ts'
import { continueUpload, discardUpload } from './continue-upload.ts'
import { fileTitle } from './source-title.ts'
import { toPurpose } from './stored-uploads.ts'

/** One file of the list. */
export interface UploadItem {
  key: string
  name: string
  state: 'waiting' | 'sending' | 'paused' | 'encoding' | 'done' | 'failed'
  percent: number
  /** Id of the media whose source the file replaces. Undefined for a new video. */
  mediaId?: string | undefined
  /** Set when the upload is complete. */
  videoId?: string
  reason?: string
}

export interface UploadQueue {
  /** Adds files: for new videos, or for the source of a media. Returns the names of files that are not videos. */
  add(files: readonly File[], mediaId?: string): string[]
  pause(key: string): void
  /** Continues a paused or failed upload. */
  resume(key: string): void
  /** Removes an upload from the list. One that has not arrived completely is aborted and deleted. */
  remove(key: string): void
  removeEnded(): void
  /** Returns the bytes of the files of an organisation that wait. The platform has not reserved them yet. */
  waitingBytes(organisationId: string): number
  setApi(api: Vitascope, organisationId: string): void
}

interface Entry {
  item: UploadItem
  file: File
  api: Vitascope
  organisationId: string
  abort: AbortController | undefined
}

/** Files are sent this many at a time. More do not make them arrive earlier. */
const AT_ONCE = 2
/** A long queue, or a long video, can take many hours. */
const FOR_EVER = { timeoutMs: Number.POSITIVE_INFINITY }
const VIDEO_NAME = /\.(mp4|m4v|mov|mkv|webm|avi|mpe?g|ts|m2ts|mts|wmv|flv|3gp|ogv|mxf|vob|divx|asf|mp3|m4a|wav|flac|ogg|opus|aac)$/i

export function isVideoFile({ type, name }: Pick<File, 'type' | 'name'>): boolean {
  return type.startsWith('video/') || type.startsWith('audio/') || VIDEO_NAME.test(name)
}

/**
 * Sends files one after another. An upload that was paused, or interrupted by the end of the page, continues where it
 * stopped when the same file is added again.
 */
export function createUploadQueue({
  onChange,
  onUploaded,
}: {
  onChange: (items: readonly UploadItem[]) => void
  /** Called when a file has arrived, and when its video is ready or has failed. */
  onUploaded: () => void
}): UploadQueue {
  let entries: Entry[] = []
  let target: { api: Vitascope; organisationId: string } | undefined
  let count = 0

  const report = () => onChange(entries.map(({ item }) => item))
  const change = (entry: Entry, changes: Partial<UploadItem>) => {
    entry.item = { ...entry.item, ...changes }
    report()
  }
  const targetOf = ({ item, file, organisationId }: Entry) => ({ file, purpose: toPurpose(organisationId, item.mediaId) })
  const find = (key: string) => entries.find(({ item }) => item.key === key)

  function startNext(): void {
    const sending = entries.filter(({ item }) => item.state === 'sending').length
    for (const entry of entries.filter(({ item }) => item.state === 'waiting').slice(0, Math.max(0, AT_ONCE - sending))) void send(entry)
  }

  async function send(entry: Entry): Promise<void> {
    const { item, file, api } = entry
    const { mediaId } = item
    const abort = new AbortController()
    entry.abort = abort
    change(entry, { state: 'sending' })
    try {
      const { id, job_id } = await continueUpload(api, targetOf(entry), {
        ...(mediaId === undefined ? { title: fileTitle(file.name) } : { mediaId }),
        signal: abort.signal,
        onProgress: ({ sentBytes }) => change(entry, { percent: Math.floor((100 * sentBytes) / file.size) }),
      })
      change(entry, { state: 'encoding', percent: 0, videoId: id })
      onUploaded()
      startNext()
      await waitForEncode(entry, { id, job_id, signal: abort.signal })
      change(entry, { state: 'done', percent: 100 })
    } catch (error) {
      if (abort.signal.aborted) return
      change(entry, { state: 'failed', reason: toMessage(error) })
    } finally {
      onUploaded()
      startNext()
    }
  }

  async function waitForEncode(entry: Entry, { id, job_id, signal }: UploadedVideo & { signal: AbortSignal }): Promise<void> {
    const { item, api } = entry
    const showProgress = (percent: number) => change(entry, { percent })
    if (item.mediaId === undefined) {
      await waitThroughOutages(() =>
        api.videos.waitUntilReady(id, { ...FOR_EVER, signal, onProgress: ({ status }) => showProgress(status.progress) }),
      )
      return
    }
    // The old files play meanwhile, so the video is ready all the time.
    const { state } = await waitThroughOutages(() =>
      api.jobs.waitUntilEnded(job_id, { ...FOR_EVER, signal, onProgress: ({ progress }) => showProgress(progress) }),
    )
    if (state !== 'ok') throw new VitascopeError('The new source cannot be encoded.', { code: 'encoding_failed' })
  }

  return {
    add(files, mediaId) {
      const skipped: string[] = []
      for (const file of files) {
        if (!isVideoFile(file)) skipped.push(file.name)
        else if (target)
          entries.push({
            item: { key: `${++count}`, name: file.name, state: 'waiting', percent: 0, mediaId },
            ...{ file, ...target, abort: undefined },
          })
      }
      report()
      startNext()
      return skipped
    },
    pause(key) {
      const entry = find(key)
      if (entry?.item.state !== 'sending' && entry?.item.state !== 'waiting') return
      change(entry, { state: 'paused' })
      entry.abort?.abort()
      startNext()
    },
    resume(key) {
      const entry = find(key)
      if (entry?.item.state !== 'paused' && entry?.item.state !== 'failed') return
      change(entry, { state: 'waiting', reason: '' })
      startNext()
    },
    remove(key) {
      const entry = find(key)
      if (!entry) return
      entry.abort?.abort()
      // If this fails, the platform deletes the upload after a day.
      if (entry.item.videoId === undefined) discardUpload(entry.api, targetOf(entry)).catch(() => {})
      entries = entries.filter((other) => other !== entry)
      report()
      startNext()
    },
    waitingBytes: (organisationId) =>
      entries
        .filter((entry) => entry.item.state === 'waiting' && entry.organisationId === organisationId)
        .reduce((sum, { file }) => sum + file.size, 0),
    removeEnded() {
      entries = entries.filter(({ item }) => item.state !== 'done')
      report()
    },
    setApi(api, organisationId) {
      target = { api, organisationId }
    },
  }
}

/** Waits again after an error that says nothing about the encode: the connection failed, or the platform is not available. */
async function waitThroughOutages<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof VitascopeError) || (error.status > 0 && error.status < 500) || FINAL_CODES.has(error.code)) throw error
    }
  }
}

/** Codes of errors of the SDK without a status that are about the encode. */
const FINAL_CODES: ReadonlySet<string> = new Set(['encoding_failed', 'wait_timeout', 'invalid_argument'])
