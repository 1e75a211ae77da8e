/** Adds a style sheet to the shadow root of an element, once per name. */
export function addStyles(element: Element, name: string, css: string): void {
  const root = element.getRootNode()
  if (!(root instanceof ShadowRoot)) return
  const added = names.get(root) ?? new Set()
  names.set(root, added)
  if (added.has(name)) return
  added.add(name)
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  root.adoptedStyleSheets.push(sheet)
}

const names = new WeakMap<ShadowRoot, Set<string>>()
