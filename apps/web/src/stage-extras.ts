/** Adds a style sheet to the stage of an element, once under its name. */
export function addStyles(inStage: Element, name: string, css: string): void {
  const root = inStage.getRootNode()
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
