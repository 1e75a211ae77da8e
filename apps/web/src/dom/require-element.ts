/** Returns an element of a part of the page, which must contain it. */
export function requireElement<T extends Element>(root: ParentNode, selector: string, type: abstract new (...args: never[]) => T): T {
  const element = root.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`)
  return element
}
