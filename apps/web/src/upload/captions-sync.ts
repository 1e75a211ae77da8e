import { asObject, asText } from '../video/json-values.ts'
import { requestApi } from './api-request.ts'
import { decodeCaptions, formatLanguage, guessLanguage, readFormat } from './caption-file.ts'
import type { UploadedVideo } from './details-sync.ts'
import { canRetry, explainFailure } from './plain-words.ts'
import { FileUnreadable, isMissing } from './problem.ts'
import type { Waiting } from './retry.ts'

export type CaptionState =
  /** The user has not chosen the language. */
  | { kind: 'language missing' }
  | { kind: 'after upload' }
  | { kind: 'sending'; waiting: Waiting }
  | { kind: 'added' }
  | { kind: 'failed'; text: string; canRetry: boolean }
  | { kind: 'removing' }
  /** The server still has the captions. */
  | { kind: 'not removed'; text: string }

const REMOVE_TIMEOUT_MS = 60_000

/**
 * One caption file of a video. It is sent when the video exists and its language is known. Caption
 * files are independent: one that fails affects no other.
 */
export class CaptionSync {
  readonly file: File
  language: string
  state: CaptionState = { kind: 'after upload' }
  onChange = (): void => {}
  #video: UploadedVideo | undefined
  #isSending = false
  /** Caption that the server has, and its language. */
  #stored: { captionId: string; language: string } | undefined
  #stop = new AbortController()

  constructor(file: File) {
    this.file = file
    this.language = guessLanguage(file.name)
    if (this.language === '') this.state = { kind: 'language missing' }
  }

  setLanguage(language: string): void {
    this.language = language
    if (!this.#video) this.#set({ kind: language === '' ? 'language missing' : 'after upload' })
    void this.#send()
  }

  attach(video: UploadedVideo): void {
    this.#video = video
    void this.#send()
  }

  retry(): void {
    void this.#send()
  }

  /** Stops sending, and deletes the captions if the server has them. Returns false if the server still has them. */
  async remove(): Promise<boolean> {
    this.#stop.abort()
    if (!this.#video || !this.#stored) return true
    const { key } = this.#video.access()
    const path = `/caption/${this.#stored.captionId}`
    this.#set({ kind: 'removing' })
    try {
      await requestApi({ method: 'DELETE', path, key, signal: AbortSignal.timeout(REMOVE_TIMEOUT_MS) })
    } catch (error) {
      if (!isMissing(error)) {
        this.#stop = new AbortController()
        this.#set({ kind: 'not removed', text: explainFailure(error, 'captions') })
        return false
      }
    }
    return true
  }

  async #send(): Promise<void> {
    const { signal } = this.#stop
    if (!this.#video || this.#isSending || this.language === '' || this.language === this.#stored?.language) return
    this.#isSending = true
    this.#set({ kind: 'sending', waiting: undefined })
    try {
      while (this.language !== '' && this.language !== this.#stored?.language) {
        const language = this.language
        const captionId = this.#stored
          ? await this.#changeLanguage(this.#video, this.#stored.captionId, language)
          : await this.#create(this.#video, language)
        this.#stored = { captionId, language }
      }
      this.#set({ kind: 'added' })
    } catch (error) {
      if (!signal.aborted) this.#set({ kind: 'failed', text: explainFailure(error, 'captions'), canRetry: canRetry(error) })
    } finally {
      this.#isSending = false
    }
  }

  async #create(video: UploadedVideo, language: string): Promise<string> {
    const payload = {
      media_id: await this.#findMediaId(video),
      ...toFields(language),
      format: readFormat(this.file.name) ?? 'vtt',
      content: await readText(this.file),
    }
    const lines = await this.#request('POST', '/caption', video, payload)
    return asText(asObject(Array.isArray(lines) ? lines[0] : {})['caption_id'])
  }

  async #changeLanguage(video: UploadedVideo, captionId: string, language: string): Promise<string> {
    await this.#request('PUT', `/caption/${captionId}`, video, toFields(language))
    return captionId
  }

  async #findMediaId(video: UploadedVideo): Promise<string> {
    return asText(asObject(await this.#request('GET', `/video/${video.videoId}`, video))['media_id'])
  }

  #request(method: 'GET' | 'POST' | 'PUT', path: string, video: UploadedVideo, payload?: Record<string, string>): Promise<unknown> {
    return requestApi({
      ...{ method, path, key: video.access().key, signal: this.#stop.signal },
      ...(payload && { payload }),
      onWaiting: (waiting) => this.#set({ kind: 'sending', waiting }),
    })
  }

  #set(state: CaptionState): void {
    this.state = state
    this.onChange()
  }
}

function toFields(language: string): { title: string; language: string } {
  return { title: formatLanguage(language), language }
}

async function readText(file: File): Promise<string> {
  const bytes = await file.arrayBuffer().catch(() => {
    throw new FileUnreadable()
  })
  return decodeCaptions(new Uint8Array(bytes))
}
