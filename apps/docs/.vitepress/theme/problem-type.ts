/**
 * Opens the description of an error code. The `type` of a problem document is `/docs#CODE`, which
 * is an address of the landing page.
 */
export function followProblemType(): void {
  const { pathname, hash } = window.location
  if (!/^\/docs\/?$/.test(pathname) || !/^#[a-z][a-z0-9_]*$/.test(hash) || isHeading(hash)) return
  window.location.replace(`/docs/reference/problem-codes${hash}`)
}

function isHeading(hash: string): boolean {
  return document.getElementById(hash.slice(1)) !== null
}
