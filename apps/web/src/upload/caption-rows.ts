import { requireElement } from '../dom/require-element.ts'
import { announce } from './announce.ts'
import { CAPTION_EXTENSIONS, listLanguages, readFormat } from './caption-file.ts'
import { type CaptionState, CaptionSync } from './captions-sync.ts'
import { fromTemplate } from './from-template.ts'
import { formatCaption } from './status-text.ts'
import type { UploadItem } from './upload-item.ts'

const FINAL_STATES: ReadonlySet<CaptionState['kind']> = new Set(['added', 'failed', 'not removed'])

/** Shows the caption files of a video, with their languages. */
export function showCaptions(group: HTMLElement, item: UploadItem): void {
  const input = requireElement(group, 'input[type=file]', HTMLInputElement)
  const fault = requireElement(group, '.fault', HTMLElement)
  input.accept = CAPTION_EXTENSIONS
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])]
    input.value = ''
    const otherFiles = files.filter(({ name }) => readFormat(name) === undefined)
    fault.hidden = otherFiles.length === 0
    fault.textContent = otherFiles.map(({ name }) => `“${name}” is not a caption file. Choose a .vtt or .srt file.`).join(' ')
    for (const file of files) if (!otherFiles.includes(file)) addRow(group, item, new CaptionSync(file))
  })
}

function addRow(group: HTMLElement, item: UploadItem, caption: CaptionSync): void {
  const row = fromTemplate('caption-row')
  const select = requireElement(row, 'select', HTMLSelectElement)
  const state = requireElement(row, '.caption-state', HTMLElement)
  const retryButton = requireElement(row, '.caption-retry', HTMLButtonElement)
  const removeButton = requireElement(row, '.remove-caption', HTMLButtonElement)
  const { name } = caption.file
  requireElement(row, '.caption-name', HTMLElement).textContent = name
  select.setAttribute('aria-label', `Language of ${name}`)
  removeButton.setAttribute('aria-label', `Remove ${name}`)
  select.append(new Option('Language …', ''), ...listLanguages().map(({ code, name }) => new Option(name, code)))
  select.value = caption.language

  const show = () => {
    const text = formatCaption(caption.state)
    if (state.textContent !== text && FINAL_STATES.has(caption.state.kind)) announce(name, text)
    state.textContent = text
    const more = row.closest('details')
    if (more && caption.state.kind === 'failed') more.open = true
    row.dataset['state'] = caption.state.kind
    retryButton.hidden = caption.state.kind !== 'failed' || !caption.state.canRetry
  }
  caption.onChange = show
  select.addEventListener('change', () => caption.setLanguage(select.value))
  retryButton.addEventListener('click', () => caption.retry())
  const remove = async () => {
    if (!(await caption.remove())) return
    item.captions.delete(caption)
    row.remove()
  }
  removeButton.addEventListener('click', () => {
    requireElement(group, 'input[type=file]', HTMLInputElement).focus()
    void remove()
  })
  show()
  requireElement(group, '.caption-rows', HTMLElement).append(row)
  item.addCaption(caption)
  if (caption.language === '') select.focus()
}
