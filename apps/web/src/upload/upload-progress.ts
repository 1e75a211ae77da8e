import { part } from '../player-shell.ts'
import { resumableUploads } from './resumable-uploads.ts'
import { createRate, transferText } from './transfer-text.ts'
import { dropUpload, UploadRefused, uploadByTus } from './tus-upload.ts'

export interface UploadTarget {
  key: string
  /** Title of the video. If empty, the file name is used. */
  title: string
  /** Organisation. If empty, the organisation of the key is used. */
  organisationId: string
}

export type UploadEnd = { kind: 'video'; videoId: string } | { kind: 'refused'; text: string } | { kind: 'cancelled' }

/**
 * Shows the progress of an upload with buttons to pause and cancel. Resolves when the upload ends.
 */
export async function sendFile(file: File, { key, title, organisationId }: UploadTarget): Promise<UploadEnd> {
  const view = part(document, '.sending', HTMLElement)
  const bar = part(view, 'progress', HTMLProgressElement)
  const figures = part(view, '.figures', HTMLElement)
  const phase = part(view, '.phase', HTMLElement)
  const pause = part(view, '.pause', HTMLButtonElement)
  part(view, 'h2', HTMLElement).textContent = title || file.name
  const over = new AbortController()
  const stays = (event: Event) => event.preventDefault()
  window.addEventListener('beforeunload', stays, { signal: over.signal })

  let resumePath = resumableUploads.find(file)
  let isCancelled = false
  let isRefused = false
  let run = new AbortController()
  let resume = () => {}
  const rate = createRate()
  const onProgress = (bytes: number) => {
    bar.value = (100 * bytes) / file.size
    figures.textContent = transferText(bytes, file.size, rate(bytes, performance.now()))
    if (bytes >= file.size) phase.textContent = 'Uploaded. The video is being made …'
  }
  const toggle = () => {
    if (run.signal.aborted) return resume()
    pause.textContent = 'Continue'
    phase.textContent = 'Paused. What is uploaded stays for a day.'
    run.abort()
  }
  const cancel = () => {
    isCancelled = true
    run.abort()
    resume()
  }
  pause.addEventListener('click', toggle, { signal: over.signal })
  part(view, '.cancel', HTMLButtonElement).addEventListener('click', cancel, { signal: over.signal })
  pause.focus()

  try {
    for (;;) {
      pause.textContent = 'Pause'
      phase.textContent = resumePath === undefined ? 'Uploading' : 'Resuming the upload'
      try {
        const videoId = await uploadByTus({
          ...{ file, key, resumePath, onProgress, signal: run.signal },
          metadata: { filename: file.name, title, organisation_id: organisationId },
          onCreated: (path) => {
            resumePath = path
            resumableUploads.keep(file, path)
          },
          onConnection: (isThere) => {
            phase.textContent = isThere ? 'Uploading' : 'The server does not respond. Trying again …'
          },
        })
        resumableUploads.forget(file)
        return { kind: 'video', videoId }
      } catch (error) {
        if (!run.signal.aborted) throw error
        const resumed = new Promise<void>((resolve) => {
          resume = resolve
        })
        if (!isCancelled) await resumed
        if (isCancelled) return { kind: 'cancelled' }
        run = new AbortController()
      }
    }
  } catch (error) {
    // The upload can resume with another key. After any other rejection, choosing the file again
    // starts a new upload.
    isRefused = error instanceof UploadRefused && error.status !== 401
    return { kind: 'refused', text: error instanceof UploadRefused ? refusalText(error) : 'The file could not be read.' }
  } finally {
    over.abort()
    if ((isCancelled || isRefused) && resumePath !== undefined) {
      resumableUploads.forget(file)
      void dropUpload(resumePath, key)
    }
  }
}

function refusalText({ status, message }: UploadRefused): string {
  if (status === 401) return 'The server does not know this key.'
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
}
