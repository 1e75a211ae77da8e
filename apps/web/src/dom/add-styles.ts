/** Adds a style sheet to the shadow root of an element, once per name. */
export function addStyles(element: Element, name: string, css: string): void {
  const root = element.getRootNode()
  if (!(root instanceof ShadowRoot)) return
  const styleNames = styleNamesByRoot.get(root) ?? new Set()
  styleNamesByRoot.set(root, styleNames)
  if (styleNames.has(name)) return
  styleNames.add(name)
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  root.adoptedStyleSheets.push(sheet)
}

const styleNamesByRoot = new WeakMap<ShadowRoot, Set<string>>()
