/** Ids of unfinished uploads in this browser. The platform deletes an incomplete upload after a day. */
const PREFIX = 'vitascope-upload:'
const MAX_AGE_MS = 86_400_000

/** The same file of the same organisation continues its upload. */
function nameOf({ name, size, lastModified }: File, organisationId: string): string {
  return `${PREFIX}${organisationId}:${lastModified}:${size}:${name}`
}

/** Returns the id of the unfinished upload of a file, or undefined if there is none. */
export function recallUpload(file: File, organisationId: string): string | undefined {
  try {
    const { id, time } = JSON.parse(localStorage.getItem(nameOf(file, organisationId)) ?? '{}') as { id?: string; time?: number }
    return id !== undefined && time !== undefined && Date.now() - time < MAX_AGE_MS ? id : undefined
  } catch {
    return undefined
  }
}

export function rememberUpload(file: File, organisationId: string, id: string): void {
  try {
    localStorage.setItem(nameOf(file, organisationId), JSON.stringify({ id, time: Date.now() }))
  } catch {
    // Without storage, an upload continues until the page is closed.
  }
}

export function forgetUpload(file: File, organisationId: string): void {
  try {
    localStorage.removeItem(nameOf(file, organisationId))
  } catch {
    // See above.
  }
}
