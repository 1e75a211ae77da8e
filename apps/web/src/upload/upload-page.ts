import { requireElement } from '../dom/require-element.ts'
import type { Access } from './access.ts'
import { showAccessForm } from './access-form.ts'
import { acceptFiles } from './drop-area.ts'
import { INVALID_KEY } from './plain-words.ts'
import { storedVisibility } from './resumable-uploads.ts'
import { createCard } from './upload-card.ts'
import { UploadItem } from './upload-item.ts'
import { UploadQueue } from './upload-queue.ts'
import { isVisibility } from './video-details.ts'

const uploads = requireElement(document, '.uploads', HTMLElement)
const cards = requireElement(uploads, '.cards', HTMLElement)
const summary = requireElement(uploads, '.summary', HTMLElement)
const newVisibility = requireElement(document, 'select[name=new-visibility]', HTMLSelectElement)

let access: Access = { key: '', organisationId: '' }
/** The listed files, with the function that shows each. */
const items = new Map<UploadItem, () => void>()
/** Also the files that were removed from the list while their details are sent. */
const allItems: UploadItem[] = []
const queue = new UploadQueue(() => {
  accessForm.reject(INVALID_KEY)
  showAll()
})
const accessForm = showAccessForm(requireElement(document, '.access', HTMLFormElement), (accepted) => {
  access = accepted
  queue.open()
  showAll()
  if (items.size === 0) requireElement(document, '#file', HTMLInputElement).focus()
})

newVisibility.value = storedVisibility.read()
newVisibility.addEventListener('change', () => isVisibility(newVisibility.value) && storedVisibility.save(newVisibility.value))
acceptFiles(requireElement(document, '.drop', HTMLElement), (files) => {
  for (const file of files) addFile(file)
  queue.fill()
})
window.addEventListener('beforeunload', (event) => {
  if (allItems.some(({ isUnsaved }) => isUnsaved)) event.preventDefault()
})

function addFile(file: File): void {
  const listed = [...items.keys()].find((item) => isSameFile(item.file, file))
  if (listed?.state.kind === 'failed' && listed.isUsable) listed.enqueue()
  if (listed) return
  const visibility = isVisibility(newVisibility.value) ? newVisibility.value : 'public'
  const item = new UploadItem(file, visibility, () => access)
  const { element, show } = createCard(item, {
    isOpen: () => queue.isOpen,
    key: () => access.key,
    onChange() {
      queue.fill()
      showSummary()
    },
    onRemove() {
      items.delete(item)
      queue.items.delete(item)
      queue.fill()
      showSummary()
      requireElement(document, items.size > 0 ? '#uploads-heading' : '#file', HTMLElement).focus()
    },
  })
  const more = requireElement(element, 'details', HTMLDetailsElement)
  more.open = items.size === 0
  more.hidden = !item.isUsable
  items.set(item, show)
  allItems.push(item)
  queue.items.add(item)
  cards.append(element)
  showSummary()
}

function isSameFile(a: File, b: File): boolean {
  return a.name === b.name && a.size === b.size && a.lastModified === b.lastModified
}

function showAll(): void {
  for (const show of items.values()) show()
  showSummary()
}

function showSummary(): void {
  uploads.hidden = items.size === 0
  document.body.dataset['step'] = items.size === 0 ? 'empty' : 'uploads'
  const uploaded = [...items.keys()].filter(({ state }) => state.kind === 'uploaded').length
  summary.textContent = `${uploaded} of ${items.size} uploaded`
  document.title = items.size === 0 ? 'Upload videos' : `${uploaded} of ${items.size} uploaded`
}
