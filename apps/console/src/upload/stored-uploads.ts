/** Ids of unfinished uploads in this browser. The platform deletes an incomplete upload after a day. */
const PREFIX = 'vitascope-upload:'
const MAX_AGE_MS = 86_400_000

/** Value of an entry. Its name identifies the file and the purpose. */
interface Entry {
  id: string
  time: number
  fileName: string
  purpose: string
}

/** An upload that the end of its page has interrupted. The same file continues it. */
export interface InterruptedUpload {
  name: string
  fileName: string
  /** Whether the file replaces the source of a video. */
  isReplacement: boolean
}

/** The same file for the same purpose continues its upload. */
function nameOf({ name, size, lastModified }: File, purpose: string): string {
  return `${PREFIX}${purpose}:${lastModified}:${size}:${name}`
}

/** The purpose of an upload is a new video of an organisation, or a new source of one of its media. */
export function toPurpose(organisationId: string, mediaId?: string): string {
  return mediaId === undefined ? organisationId : `${organisationId}:${mediaId}`
}

/** Returns the id of the unfinished upload of a file for a purpose, or undefined if there is none. */
export function recallUpload(file: File, purpose: string): string | undefined {
  return readEntry(nameOf(file, purpose))?.id
}

export function rememberUpload(file: File, purpose: string, id: string): void {
  try {
    localStorage.setItem(nameOf(file, purpose), JSON.stringify({ id, time: Date.now(), fileName: file.name, purpose } satisfies Entry))
  } catch {
    // Without storage, an upload continues until the page is closed.
  }
}

export function forgetUpload(file: File, purpose: string): void {
  forgetInterrupted(nameOf(file, purpose))
}

export function forgetInterrupted(name: string): void {
  try {
    localStorage.removeItem(name)
  } catch {
    // See above.
  }
}

export function hasStoredUploads(): boolean {
  return listNames().length > 0
}

/** Runs the upload of a file. Meanwhile other tabs do not list it as interrupted. */
export function whileUploading<T>(file: File, purpose: string, run: () => Promise<T>): Promise<T> {
  // Browsers have no locks in pages without HTTPS.
  const { locks } = navigator as Partial<Navigator>
  return locks ? locks.request(nameOf(file, purpose), { mode: 'shared' }, run) : run()
}

/** Returns the interrupted uploads of an organisation. Without locks, those of other tabs are unknown, so there are none. */
export async function listInterruptedUploads(organisationId: string): Promise<InterruptedUpload[]> {
  const { locks } = navigator as Partial<Navigator>
  if (!locks) return []
  const running = new Set((await locks.query()).held?.map(({ name }) => name))
  return listNames().flatMap((name) => {
    const entry = readEntry(name)
    if (!entry) forgetInterrupted(name)
    if (!entry || running.has(name) || entry.purpose.split(':')[0] !== organisationId) return []
    return [{ name, fileName: entry.fileName, isReplacement: entry.purpose !== organisationId }]
  })
}

function listNames(): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))
  } catch {
    return []
  }
}

/** Returns an entry, or undefined if it does not exist, is too old or has another format. */
function readEntry(name: string): Entry | undefined {
  try {
    const entry = JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Entry>
    const { id, time = 0, fileName, purpose } = entry
    if (id === undefined || fileName === undefined || purpose === undefined || Date.now() - time >= MAX_AGE_MS) return undefined
    return { id, time, fileName, purpose }
  } catch {
    return undefined
  }
}
