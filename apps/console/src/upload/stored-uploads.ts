/** Ids of unfinished uploads in this browser. The platform deletes an incomplete upload after a day. */
const PREFIX = 'vitascope-upload:'
const MAX_AGE_MS = 86_400_000

/** The same file for the same purpose continues its upload. */
function nameOf({ name, size, lastModified }: File, purpose: string): string {
  return `${PREFIX}${purpose}:${lastModified}:${size}:${name}`
}

/** Returns the id of the unfinished upload of a file for a purpose, or undefined if there is none. */
export function recallUpload(file: File, purpose: string): string | undefined {
  try {
    const { id, time } = JSON.parse(localStorage.getItem(nameOf(file, purpose)) ?? '{}') as { id?: string; time?: number }
    return id !== undefined && time !== undefined && Date.now() - time < MAX_AGE_MS ? id : undefined
  } catch {
    return undefined
  }
}

export function rememberUpload(file: File, purpose: string, id: string): void {
  try {
    localStorage.setItem(nameOf(file, purpose), JSON.stringify({ id, time: Date.now() }))
  } catch {
    // Without storage, an upload continues until the page is closed.
  }
}

export function forgetUpload(file: File, purpose: string): void {
  try {
    localStorage.removeItem(nameOf(file, purpose))
  } catch {
    // See above.
  }
}
