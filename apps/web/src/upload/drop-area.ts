import { requireElement } from '../dom/require-element.ts'

/** Calls `onFiles` with files that are chosen in the area, or dropped anywhere on the page. */
export function acceptFiles(area: HTMLElement, onFiles: (files: File[]) => void): void {
  const input = requireElement(area, 'input', HTMLInputElement)
  const showOver = (isOver: boolean) => {
    area.dataset['over'] = String(isOver)
  }
  input.addEventListener('change', () => {
    onFiles([...(input.files ?? [])])
    // The same file can be chosen again.
    input.value = ''
  })
  for (const event of ['dragenter', 'dragover'] as const) {
    document.addEventListener(event, (event) => {
      event.preventDefault()
      showOver(event.dataTransfer?.types.includes('Files') ?? false)
    })
  }
  document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && showOver(false))
  // The browser would open a file that is dropped outside of the area.
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    showOver(false)
    onFiles([...(event.dataTransfer?.files ?? [])])
  })
}
