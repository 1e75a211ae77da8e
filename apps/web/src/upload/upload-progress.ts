import { requireElement } from '../dom/require-element.ts'
import { resumableUploads } from './resumable-uploads.ts'
import { createRateMeter, formatTransfer } from './transfer-text.ts'
import { deleteUpload, UploadRejected, uploadByTus } from './tus-upload.ts'

export interface UploadTarget {
  key: string
  /** Title of the video. If empty, the file name is used. */
  title: string
  /** Organisation. If empty, the organisation of the key is used. */
  organisationId: string
}

export type UploadResult = { kind: 'video'; videoId: string } | { kind: 'rejected'; text: string } | { kind: 'cancelled' }

/**
 * Shows the progress of an upload with buttons to pause and cancel. Resolves when the upload ends.
 */
export async function sendFile(file: File, { key, title, organisationId }: UploadTarget): Promise<UploadResult> {
  const section = requireElement(document, '.sending', HTMLElement)
  const bar = requireElement(section, 'progress', HTMLProgressElement)
  const transferStatus = requireElement(section, '.figures', HTMLElement)
  const phase = requireElement(section, '.phase', HTMLElement)
  const pauseButton = requireElement(section, '.pause', HTMLButtonElement)
  requireElement(section, 'h2', HTMLElement).textContent = title || file.name
  const end = new AbortController()
  const preventUnload = (event: Event) => event.preventDefault()
  window.addEventListener('beforeunload', preventUnload, { signal: end.signal })

  let resumePath = resumableUploads.find(file)
  let isCancelled = false
  let isRejected = false
  let run = new AbortController()
  let resume = () => {}
  const measureRate = createRateMeter()
  const onProgress = (bytes: number) => {
    bar.value = (100 * bytes) / file.size
    transferStatus.textContent = formatTransfer(bytes, file.size, measureRate(bytes, performance.now()))
    if (bytes >= file.size) phase.textContent = 'Uploaded. The video is being created …'
  }
  const togglePause = () => {
    if (run.signal.aborted) return resume()
    pauseButton.textContent = 'Resume'
    phase.textContent = 'Paused. The uploaded part is kept for one day.'
    run.abort()
  }
  const cancel = () => {
    isCancelled = true
    run.abort()
    resume()
  }
  pauseButton.addEventListener('click', togglePause, { signal: end.signal })
  requireElement(section, '.cancel', HTMLButtonElement).addEventListener('click', cancel, { signal: end.signal })
  pauseButton.focus()

  try {
    for (;;) {
      pauseButton.textContent = 'Pause'
      phase.textContent = resumePath === undefined ? 'Uploading' : 'Resuming the upload'
      try {
        const videoId = await uploadByTus({
          ...{ file, key, resumePath, onProgress, signal: run.signal },
          metadata: { filename: file.name, title, organisation_id: organisationId },
          onCreated: (path) => {
            resumePath = path
            resumableUploads.save(file, path)
          },
          onConnection: (isConnected) => {
            phase.textContent = isConnected ? 'Uploading' : 'The server does not respond. Trying again …'
          },
        })
        resumableUploads.forget(file)
        return { kind: 'video', videoId }
      } catch (error) {
        if (!run.signal.aborted) throw error
        const resumption = new Promise<void>((resolve) => {
          resume = resolve
        })
        if (!isCancelled) await resumption
        if (isCancelled) return { kind: 'cancelled' }
        run = new AbortController()
      }
    }
  } catch (error) {
    // The upload can resume with another key. After any other rejection, choosing the file again
    // starts a new upload.
    isRejected = error instanceof UploadRejected && error.status !== 401
    return { kind: 'rejected', text: error instanceof UploadRejected ? formatRejection(error) : 'The file could not be read.' }
  } finally {
    end.abort()
    if ((isCancelled || isRejected) && resumePath !== undefined) {
      resumableUploads.forget(file)
      void deleteUpload(resumePath, key)
    }
  }
}

function formatRejection({ status, message }: UploadRejected): string {
  if (status === 401) return 'The API key is not valid.'
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
}
