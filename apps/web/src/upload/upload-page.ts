import { requireElement } from '../dom/require-element.ts'
import { VitascopePlayer } from '../player/vitascope-player.ts'
import { storedApiKey } from './resumable-uploads.ts'
import { formatBytes } from './transfer-text.ts'
import { showUploadedVideo } from './upload-done.ts'
import { sendFile } from './upload-progress.ts'

customElements.define('vitascope-player', VitascopePlayer)

const form = requireElement(document, '.choose', HTMLFormElement)
const dropArea = requireElement(form, '.drop', HTMLElement)
const fileInput = requireElement(form, '#file', HTMLInputElement)
const chosenFileText = requireElement(form, '#chosen', HTMLElement)
const errorMessage = requireElement(form, '.fault', HTMLElement)
const findField = (name: string) => requireElement(form, `input[name=${name}]`, HTMLInputElement)

const emptyText = chosenFileText.textContent
const showError = (text: string) => {
  errorMessage.hidden = text === ''
  errorMessage.textContent = text
}
/** Shows one of the three sections of the page. */
const showSection = (name: 'choose' | 'sending' | 'finished') => {
  for (const element of document.querySelectorAll<HTMLElement>('.choose, .sending, .finished'))
    element.hidden = !element.classList.contains(name)
}
const showFile = () => {
  const [file] = fileInput.files ?? []
  chosenFileText.textContent = file ? `${file.name}, ${formatBytes(file.size)}` : emptyText
  dropArea.dataset['full'] = String(file !== undefined)
}

findField('key').value = storedApiKey.read()
fileInput.addEventListener('change', showFile)
// After a back navigation, the browser may have restored the chosen file.
showFile()

for (const event of ['dragenter', 'dragover'] as const) {
  document.addEventListener(event, (event) => {
    event.preventDefault()
    dropArea.dataset['over'] = String(!form.hidden)
  })
}
document.addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget === null) dropArea.dataset['over'] = 'false'
})
// Handles drops on the entire page. Otherwise the browser would open a file that is dropped outside
// of the area.
document.addEventListener('drop', (event) => {
  event.preventDefault()
  dropArea.dataset['over'] = 'false'
  const [file] = event.dataTransfer?.files ?? []
  if (form.hidden || !file) return
  const list = new DataTransfer()
  list.items.add(file)
  fileInput.files = list.files
  showFile()
  showError('')
  const nextElement = findField('key').value === '' ? findField('key') : requireElement(form, 'button', HTMLButtonElement)
  nextElement.focus()
})

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const [file] = fileInput.files ?? []
  if (file) void upload(file)
})

async function upload(file: File): Promise<void> {
  const key = findField('key').value.trim()
  const title = findField('title').value.trim()
  const organisationId = findField('organisation').value.trim()
  storedApiKey.save(key)
  showError('')
  showSection('sending')
  const result = await sendFile(file, { key, title, organisationId })
  if (result.kind === 'video') {
    showSection('finished')
    await showUploadedVideo(result.videoId, title || file.name)
    form.reset()
    findField('key').value = key
    findField('organisation').value = organisationId
  } else if (result.kind === 'rejected') showError(result.text)
  showSection('choose')
  showFile()
  requireElement(form, result.kind === 'rejected' ? 'button' : '#file', HTMLElement).focus()
}
