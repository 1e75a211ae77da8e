import { pause } from '../recovery/pause.ts'
import { asObject, asText } from '../video/json-values.ts'
import { requestApi } from './api-request.ts'
import type { UploadedVideo } from './details-sync.ts'
import { canRetry, explainFailedPicture, explainFailure } from './plain-words.ts'
import { FileUnreadable, isMissing } from './problem.ts'
import type { Waiting } from './retry.ts'

export type PictureState =
  | { kind: 'none' }
  | { kind: 'after upload' }
  | { kind: 'sending'; waiting: Waiting }
  /** The server has the picture and converts it. */
  | { kind: 'converting' }
  | { kind: 'set' }
  | { kind: 'failed'; text: string; canRetry: boolean }
  | { kind: 'removing' }
  /** The server still has the picture. */
  | { kind: 'not removed'; text: string }

const POLL_INTERVAL_MS = 2_500
/** At the minimum transfer rate of the server, a large picture takes longer than other requests. */
const SEND_TIMEOUT_MS = 1_500_000
const REMOVE_TIMEOUT_MS = 60_000

/**
 * The picture that a video shows before it plays. It is sent when the video exists. A later choice
 * replaces an earlier one.
 */
export class PictureSync {
  file: File | undefined
  state: PictureState = { kind: 'none' }
  onChange = (): void => {}
  #video: UploadedVideo | undefined
  /** Whether the server may have a picture. */
  #isSent = false
  #run = new AbortController()
  readonly #end: AbortSignal

  constructor(end: AbortSignal) {
    this.#end = end
  }

  choose(file: File): void {
    this.file = file
    this.#run.abort()
    this.#set({ kind: 'after upload' })
    void this.#send()
  }

  attach(video: UploadedVideo): void {
    this.#video = video
    void this.#send()
  }

  retry(): void {
    void this.#send()
  }

  /** Deletes the picture from the video if the server may have it, and clears the chosen file. */
  async remove(): Promise<void> {
    this.#run.abort()
    this.#run = new AbortController()
    if (this.#video && this.#isSent) {
      const { videoId, access } = this.#video
      const isReplaced = this.#run.signal
      const signal = AbortSignal.any([isReplaced, AbortSignal.timeout(REMOVE_TIMEOUT_MS)])
      this.#set({ kind: 'removing' })
      try {
        await requestApi({ method: 'DELETE', path: `/video/${videoId}/poster`, key: access().key, signal })
      } catch (error) {
        // Another picture was chosen, or the video has none.
        if (isReplaced.aborted) return
        if (!isMissing(error)) return this.#set({ kind: 'not removed', text: explainFailure(error, 'picture') })
      }
      if (isReplaced.aborted) return
      this.#isSent = false
    }
    this.file = undefined
    this.#set({ kind: 'none' })
  }

  async #send(): Promise<void> {
    const { file } = this
    if (!this.#video || !file) return
    const { videoId, access } = this.#video
    this.#run.abort()
    this.#run = new AbortController()
    const signal = AbortSignal.any([this.#run.signal, this.#end])
    this.#set({ kind: 'sending', waiting: undefined })
    try {
      const body = await readFile(file)
      this.#isSent = true
      const response = await requestApi({
        ...{ method: 'PUT', path: `/video/${videoId}/poster`, key: access().key, signal },
        file: { body, type: file.type, timeoutMs: SEND_TIMEOUT_MS },
        onWaiting: (waiting) => this.#set({ kind: 'sending', waiting }),
      })
      await this.#followConversion(response, signal)
    } catch (error) {
      if (!signal.aborted) this.#set({ kind: 'failed', text: explainFailure(error, 'picture'), canRetry: canRetry(error) })
    }
  }

  /**
   * Polls until the picture is converted. The conversion has usually ended before the response of
   * the upload.
   */
  async #followConversion(response: unknown, signal: AbortSignal): Promise<void> {
    for (let record = response; this.#video; ) {
      signal.throwIfAborted()
      const { status, reason } = asObject(asObject(record)['poster'])
      if (status === 'ok') return this.#set({ kind: 'set' })
      if (status !== 'processing') return this.#set({ kind: 'failed', text: explainFailedPicture(asText(reason)), canRetry: true })
      this.#set({ kind: 'converting' })
      await pause(POLL_INTERVAL_MS, signal)
      record = await requestApi({ method: 'GET', path: `/video/${this.#video.videoId}`, key: this.#video.access().key, signal })
    }
  }

  #set(state: PictureState): void {
    this.state = state
    this.onChange()
  }
}

function readFile(file: File): Promise<ArrayBuffer> {
  return file.arrayBuffer().catch(() => {
    throw new FileUnreadable()
  })
}
