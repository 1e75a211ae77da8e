import { part } from '../player-shell.ts'
import { VitascopePlayer } from '../vitascope-player.ts'
import { storedApiKey } from './resumable-uploads.ts'
import { bytesText } from './transfer-text.ts'
import { showUploadedVideo } from './upload-done.ts'
import { sendFile } from './upload-progress.ts'

customElements.define('vitascope-player', VitascopePlayer)

const form = part(document, '.choose', HTMLFormElement)
const drop = part(form, '.drop', HTMLElement)
const files = part(form, '#file', HTMLInputElement)
const chosen = part(form, '#chosen', HTMLElement)
const fault = part(form, '.fault', HTMLElement)
const field = (name: string) => part(form, `input[name=${name}]`, HTMLInputElement)

const emptyText = chosen.textContent
const showFault = (text: string) => {
  fault.hidden = text === ''
  fault.textContent = text
}
/** Shows one of the three sections of the page. */
const show = (name: 'choose' | 'sending' | 'finished') => {
  for (const element of document.querySelectorAll<HTMLElement>('.choose, .sending, .finished'))
    element.hidden = !element.classList.contains(name)
}
const showFile = () => {
  const [file] = files.files ?? []
  chosen.textContent = file ? `${file.name}, ${bytesText(file.size)}` : emptyText
  drop.dataset['full'] = String(file !== undefined)
}

field('key').value = storedApiKey.read()
files.addEventListener('change', showFile)
// After a back navigation, the browser may have restored the chosen file.
showFile()

for (const event of ['dragenter', 'dragover'] as const) {
  document.addEventListener(event, (dragged) => {
    dragged.preventDefault()
    drop.dataset['over'] = String(!form.hidden)
  })
}
document.addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget === null) drop.dataset['over'] = 'false'
})
// Handles drops on the whole page: the browser would otherwise open a file that is dropped outside
// of the area.
document.addEventListener('drop', (dropped) => {
  dropped.preventDefault()
  drop.dataset['over'] = 'false'
  const [file] = dropped.dataTransfer?.files ?? []
  if (form.hidden || !file) return
  const list = new DataTransfer()
  list.items.add(file)
  files.files = list.files
  showFile()
  showFault('')
  const next = field('key').value === '' ? field('key') : part(form, 'button', HTMLButtonElement)
  next.focus()
})

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const [file] = files.files ?? []
  if (file) void upload(file)
})

async function upload(file: File): Promise<void> {
  const key = field('key').value.trim()
  const title = field('title').value.trim()
  const organisationId = field('organisation').value.trim()
  storedApiKey.keep(key)
  showFault('')
  show('sending')
  const ended = await sendFile(file, { key, title, organisationId })
  if (ended.kind === 'video') {
    show('finished')
    await showUploadedVideo(ended.videoId, title || file.name)
    form.reset()
    field('key').value = key
    field('organisation').value = organisationId
  } else if (ended.kind === 'rejected') showFault(ended.text)
  show('choose')
  showFile()
  part(form, ended.kind === 'rejected' ? 'button' : '#file', HTMLElement).focus()
}
