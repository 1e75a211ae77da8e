import type { Access } from './access.ts'
import type { CaptionSync } from './captions-sync.ts'
import { DetailsSync } from './details-sync.ts'
import { explainUnusable } from './file-check.ts'
import { PictureSync } from './picture-sync.ts'
import { explainFailure } from './plain-words.ts'
import { RequestRejected } from './problem.ts'
import { resumableUploads } from './resumable-uploads.ts'
import type { Waiting } from './retry.ts'
import { createRateMeter } from './transfer-text.ts'
import { deleteUpload, uploadByTus } from './tus-upload.ts'
import { suggestTitle, type VideoDetails, type Visibility } from './video-details.ts'

export type UploadState =
  /** The file waits for its turn in the queue. */
  | { kind: 'waiting' }
  | { kind: 'uploading'; waiting: Waiting }
  | { kind: 'paused' }
  /** The server has all bytes, but not yet the video. */
  | { kind: 'creating'; waiting: Waiting }
  | { kind: 'uploaded'; videoId: string }
  | { kind: 'failed'; text: string }

/** States of details, picture and captions that are not on the server yet. */
const UNSENT_STATES = ['after upload', 'saving', 'sending', 'removing']

/** Returns whether the upload continues by itself later. */
export function isWaiting(state: UploadState): boolean {
  return (state.kind === 'uploading' || state.kind === 'creating') && state.waiting !== undefined
}

/**
 * One file, from its choice to its video. Its details, picture and captions are sent when the video
 * exists. They never affect the upload.
 */
export class UploadItem {
  readonly file: File
  readonly details: DetailsSync
  readonly captions = new Set<CaptionSync>()
  readonly picture: PictureSync
  /** False for a file that cannot become a video. */
  readonly isUsable: boolean
  state: UploadState = { kind: 'waiting' }
  sentBytes = 0
  /** Bytes per second, or 0 if it is unknown. */
  rate = 0
  onChange = (): void => {}
  #path: string | undefined
  #run = new AbortController()
  readonly #end = new AbortController()
  readonly #access: () => Access

  constructor(file: File, visibility: Visibility, access: () => Access) {
    this.file = file
    this.#access = access
    const earlier = resumableUploads.find(file)
    this.#path = earlier?.path
    const details = { title: suggestTitle(file.name), description: '', visibility }
    this.details = new DetailsSync(earlier?.stored ?? details, earlier?.wanted ?? details, this.#end.signal)
    this.picture = new PictureSync(this.#end.signal)
    const reason = explainUnusable(file)
    this.isUsable = reason === undefined
    if (reason !== undefined) this.state = { kind: 'failed', text: reason }
  }

  get isActive(): boolean {
    return this.state.kind === 'uploading' || this.state.kind === 'creating'
  }

  /** Returns whether leaving the page would interrupt an upload or lose changes. */
  get isUnsaved(): boolean {
    if (this.#end.signal.aborted) return false
    const isSending = [this.details, this.picture, ...this.captions].some(({ state }) => UNSENT_STATES.includes(state.kind))
    return this.isActive || this.state.kind === 'waiting' || (this.state.kind === 'uploaded' && isSending)
  }

  /**
   * Uploads the file until it is complete, paused, removed or rejected. Returns false if the key
   * was rejected. Then the file waits again.
   */
  async start(): Promise<boolean> {
    this.#run = new AbortController()
    const { signal } = this.#run
    const measureRate = createRateMeter()
    const newDetails = this.#newDetails()
    this.#set({ kind: 'uploading', waiting: undefined })
    try {
      const videoId = await uploadByTus({
        file: this.file,
        key: this.#access().key,
        metadata: this.#metadata(newDetails),
        resumePath: this.#path,
        onCreated: (path) => {
          this.#path = path
          this.details.stored = newDetails
          this.saveResumable()
        },
        onProgress: (bytes) => {
          this.sentBytes = bytes
          this.rate = measureRate(bytes, performance.now())
          this.#set({ kind: bytes >= this.file.size ? 'creating' : 'uploading', waiting: undefined })
        },
        onWaiting: (waiting) => {
          if (this.isActive) this.#set({ kind: this.state.kind === 'creating' ? 'creating' : 'uploading', waiting })
        },
        signal,
      })
      resumableUploads.forget(this.file)
      this.#complete(videoId)
    } catch (error) {
      if (signal.aborted) return true
      if (error instanceof RequestRejected && error.status === 401) {
        this.#set({ kind: 'waiting' })
        return false
      }
      this.#discard()
      this.#set({ kind: 'failed', text: explainFailure(error, 'upload') })
    }
    return true
  }

  pause(): void {
    this.#run.abort()
    this.#set({ kind: 'paused' })
  }

  /** Puts a paused or failed file back into the queue. */
  enqueue(): void {
    this.#set({ kind: 'waiting' })
  }

  /** Stops and deletes an incomplete upload. The details of an uploaded video are still sent. */
  cancel(): void {
    if (this.state.kind === 'uploaded') return
    this.#run.abort()
    this.#end.abort()
    this.#discard()
  }

  addCaption(caption: CaptionSync): void {
    this.captions.add(caption)
    if (this.state.kind === 'uploaded') caption.attach({ videoId: this.state.videoId, access: this.#access })
  }

  /** Stores the details for the time after a restart of the browser. */
  saveResumable(): void {
    const { stored, wanted } = this.details
    if (this.#path !== undefined && this.state.kind !== 'uploaded') resumableUploads.save(this.file, { path: this.#path, stored, wanted })
  }

  /** Returns the details that the server stores if it creates an upload now. */
  #newDetails(): VideoDetails {
    const { title, visibility } = this.details.wanted
    return { title: title.trim() || suggestTitle(this.file.name), description: '', visibility }
  }

  #metadata({ title, visibility }: VideoDetails): Record<string, string> {
    return { filename: this.file.name, title, organisation_id: this.#access().organisationId, visibility }
  }

  #complete(videoId: string): void {
    this.sentBytes = this.file.size
    this.#set({ kind: 'uploaded', videoId })
    const video = { videoId, access: this.#access }
    this.details.attach(video)
    this.picture.attach(video)
    for (const caption of this.captions) caption.attach(video)
  }

  /** Deletes the incomplete upload, so that the next attempt starts from the beginning. */
  #discard(): void {
    resumableUploads.forget(this.file)
    if (this.#path !== undefined) void deleteUpload(this.#path, this.#access().key)
    this.#path = undefined
    this.sentBytes = 0
  }

  #set(state: UploadState): void {
    this.state = state
    this.onChange()
  }
}
