import type { Access } from './access.ts'
import { requestApi } from './api-request.ts'
import { explainFailure } from './plain-words.ts'
import type { Waiting } from './retry.ts'
import { changedDetails, type VideoDetails } from './video-details.ts'

/** A video that the server has created, and the credentials of the user. */
export interface UploadedVideo {
  videoId: string
  access: () => Access
}

export type SaveState =
  | { kind: 'unchanged' }
  /** The details are sent when the video exists. */
  | { kind: 'after upload' }
  | { kind: 'saving'; waiting: Waiting }
  | { kind: 'saved' }
  | { kind: 'failed'; text: string }

/**
 * Sends the details of a video. Until the video exists, they are only stored in the page. Later
 * changes are sent one request after another, so that the last one wins.
 */
export class DetailsSync {
  /** The details that the user entered. */
  wanted: VideoDetails
  /** The details that the server has. */
  stored: VideoDetails
  state: SaveState = { kind: 'unchanged' }
  onChange = (): void => {}
  #video: UploadedVideo | undefined
  #isSending = false
  readonly #signal: AbortSignal

  constructor(stored: VideoDetails, wanted: VideoDetails, signal: AbortSignal) {
    this.stored = stored
    this.wanted = wanted
    this.#signal = signal
    if (this.#hasChanges()) this.state = { kind: 'after upload' }
  }

  change(changes: Partial<VideoDetails>): void {
    this.wanted = { ...this.wanted, ...changes }
    if (!this.#video) this.#set(this.#hasChanges() ? { kind: 'after upload' } : { kind: 'unchanged' })
    void this.#send()
  }

  /** Sends what was changed so far, now that the video exists. */
  attach(video: UploadedVideo): void {
    this.#video = video
    void this.#send()
  }

  retry(): void {
    void this.#send()
  }

  #hasChanges(): boolean {
    return Object.keys(changedDetails(this.stored, this.wanted)).length > 0
  }

  async #send(): Promise<void> {
    if (!this.#video || this.#isSending) return
    if (!this.#hasChanges()) {
      // The upload was created with these details, or a failed change was undone.
      if (this.state.kind === 'after upload' || this.state.kind === 'failed') this.#set({ kind: 'saved' })
      return
    }
    const { videoId, access } = this.#video
    this.#isSending = true
    this.#set({ kind: 'saving', waiting: undefined })
    try {
      while (this.#hasChanges()) {
        const wanted = { ...this.wanted, title: this.wanted.title.trim() || this.stored.title }
        await requestApi({
          method: 'PATCH',
          path: `/video/${videoId}`,
          key: access().key,
          payload: changedDetails(this.stored, wanted),
          onWaiting: (waiting) => this.#set({ kind: 'saving', waiting }),
          signal: this.#signal,
        })
        this.stored = wanted
      }
      this.#set({ kind: 'saved' })
    } catch (error) {
      if (!this.#signal.aborted) this.#set({ kind: 'failed', text: explainFailure(error, 'details') })
    } finally {
      this.#isSending = false
    }
  }

  #set(state: SaveState): void {
    this.state = state
    this.onChange()
  }
}
