import { part } from '../stage.ts'
import { begunUploads } from './begun-uploads.ts'
import { createRate, transferText } from './transfer-text.ts'
import { dropUpload, UploadRefused, uploadByTus } from './tus-upload.ts'

export interface SendingTo {
  key: string
  /** Empty for the file's name. */
  title: string
  /** Empty for that of the key. */
  organisationId: string
}

export type SendingEnd = { kind: 'video'; videoId: string } | { kind: 'refused'; text: string } | { kind: 'cancelled' }

/** Shows how far an upload is, with buttons that stop it for a while or for good; ends with the video. */
export async function sendFile(file: File, { key, title, organisationId }: SendingTo): Promise<SendingEnd> {
  const view = part(document, '.sending', HTMLElement)
  const bar = part(view, 'progress', HTMLProgressElement)
  const figures = part(view, '.figures', HTMLElement)
  const phase = part(view, '.phase', HTMLElement)
  const pause = part(view, '.pause', HTMLButtonElement)
  part(view, 'h2', HTMLElement).textContent = title || file.name
  const over = new AbortController()
  const stays = (event: Event) => event.preventDefault()
  window.addEventListener('beforeunload', stays, { signal: over.signal })

  let begun = begunUploads.find(file)
  let isCancelled = false
  let isRefused = false
  let run = new AbortController()
  let goOn = () => {}
  const rate = createRate()
  const onProgress = (bytes: number) => {
    bar.value = (100 * bytes) / file.size
    figures.textContent = transferText(bytes, file.size, rate(bytes, performance.now()))
    if (bytes >= file.size) phase.textContent = 'Uploaded. The video is being made …'
  }
  const toggle = () => {
    if (run.signal.aborted) return goOn()
    pause.textContent = 'Go on'
    phase.textContent = 'Paused. What is uploaded stays for a day.'
    run.abort()
  }
  const cancel = () => {
    isCancelled = true
    run.abort()
    goOn()
  }
  pause.addEventListener('click', toggle, { signal: over.signal })
  part(view, '.cancel', HTMLButtonElement).addEventListener('click', cancel, { signal: over.signal })
  pause.focus()

  try {
    for (;;) {
      pause.textContent = 'Pause'
      phase.textContent = begun === undefined ? 'Uploading' : 'Going on where it broke off'
      try {
        const videoId = await uploadByTus({
          ...{ file, key, begun, onProgress, signal: run.signal },
          metadata: { filename: file.name, title, organisation_id: organisationId },
          onBegun: (path) => {
            begun = path
            begunUploads.keep(file, path)
          },
          onConnection: (isThere) => {
            phase.textContent = isThere ? 'Uploading' : 'The server does not answer just now. Trying again …'
          },
        })
        begunUploads.forget(file)
        return { kind: 'video', videoId }
      } catch (error) {
        if (!run.signal.aborted) throw error
        const goesOn = new Promise<void>((resolve) => {
          goOn = resolve
        })
        if (!isCancelled) await goesOn
        if (isCancelled) return { kind: 'cancelled' }
        run = new AbortController()
      }
    }
  } catch (error) {
    // With another key it may go on; whatever else is refused begins anew when the file is chosen again.
    isRefused = error instanceof UploadRefused && error.status !== 401
    return { kind: 'refused', text: error instanceof UploadRefused ? refusalText(error) : 'The file could not be read.' }
  } finally {
    over.abort()
    if ((isCancelled || isRefused) && begun !== undefined) {
      begunUploads.forget(file)
      void dropUpload(begun, key)
    }
  }
}

function refusalText({ status, message }: UploadRefused): string {
  if (status === 401) return 'The server does not know this key.'
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
}
