import { requireElement } from '../dom/require-element.ts'

/** Returns a copy of the first element of a template. */
export function fromTemplate(id: string): HTMLElement {
  const template = requireElement(document, `template#${id}`, HTMLTemplateElement)
  return requireElement(document.importNode(template.content, true), '*', HTMLElement)
}
