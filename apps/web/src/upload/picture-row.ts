import { requireElement } from '../dom/require-element.ts'
import { announce } from './announce.ts'
import { explainUnusablePicture, PICTURE_TYPES } from './picture-file.ts'
import type { PictureState } from './picture-sync.ts'
import { formatPicture } from './status-text.ts'
import type { UploadItem } from './upload-item.ts'

const PREVIEW_WIDTH = 320
const FINAL_STATES: ReadonlySet<PictureState['kind']> = new Set(['set', 'failed', 'not removed'])

/** Shows the picture of a video: its choice, preview, state and removal. */
export function showPicture(group: HTMLElement, { picture }: UploadItem): void {
  const input = requireElement(group, 'input[type=file]', HTMLInputElement)
  const fault = requireElement(group, '.fault', HTMLElement)
  const row = requireElement(group, '.poster-row', HTMLElement)
  const preview = requireElement(row, 'canvas', HTMLCanvasElement)
  const state = requireElement(row, '.poster-state', HTMLElement)
  const retryButton = requireElement(row, '.poster-retry', HTMLButtonElement)
  const removeButton = requireElement(row, '.remove-poster', HTMLButtonElement)

  const showFault = (text: string) => {
    fault.hidden = text === ''
    fault.textContent = text
  }
  picture.onChange = () => {
    const { file } = picture
    const text = formatPicture(picture.state)
    const isFinal = FINAL_STATES.has(picture.state.kind)
    if (file && isFinal && state.textContent !== text) announce(file.name, text)
    row.hidden = file === undefined
    requireElement(row, '.poster-name', HTMLElement).textContent = file?.name ?? ''
    removeButton.setAttribute('aria-label', `Remove ${file?.name ?? 'the picture'}`)
    requireElement(group, '.choose-poster span', HTMLElement).textContent = file ? 'Choose another picture' : 'Choose a picture'
    state.textContent = text
    row.dataset['state'] = picture.state.kind
    retryButton.hidden = picture.state.kind !== 'failed' || !picture.state.canRetry
    const more = group.closest('details')
    if (more && picture.state.kind === 'failed') more.open = true
  }
  input.accept = PICTURE_TYPES.join(',')
  input.addEventListener('change', () => {
    const [file] = input.files ?? []
    input.value = ''
    if (!file) return
    const problem = explainUnusablePicture(file)
    showFault(problem ?? '')
    if (problem !== undefined) return
    picture.choose(file)
    void drawPicture(file, preview)
  })
  retryButton.addEventListener('click', () => picture.retry())
  removeButton.addEventListener('click', () => {
    void picture.remove()
    input.focus()
  })
  picture.onChange()
}

/**
 * Draws a picture. The canvas stays empty if the browser cannot decode it; the server then rejects
 * it too.
 */
async function drawPicture(file: File, canvas: HTMLCanvasElement): Promise<void> {
  canvas.width = 0
  const bitmap = await createImageBitmap(file).catch(() => undefined)
  if (!bitmap) return
  canvas.width = Math.min(bitmap.width, PREVIEW_WIDTH)
  canvas.height = Math.max(1, Math.round((canvas.width * bitmap.height) / bitmap.width))
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
}
