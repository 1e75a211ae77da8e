import { asObject, asText } from '../video/json-values.ts'
import { isVisibility, type VideoDetails } from './video-details.ts'

/**
 * An incomplete upload: its path, the details that the server has, and the ones that the user has
 * chosen.
 */
export interface ResumableUpload {
  path: string
  stored: VideoDetails
  wanted: VideoDetails
}

/**
 * Incomplete uploads by file. When the user chooses the same file again, the upload resumes, also
 * after a restart of the browser. A path is useless without the access key.
 */
export const resumableUploads = {
  find: (file: File): ResumableUpload | undefined => parseUpload(tryStorage(() => localStorage.getItem(toStorageName(file))) ?? ''),
  save: (file: File, upload: ResumableUpload): void =>
    void tryStorage(() => localStorage.setItem(toStorageName(file), JSON.stringify(upload))),
  forget: (file: File): void => void tryStorage(() => localStorage.removeItem(toStorageName(file))),
}

function toStorageName({ name, size, lastModified }: File): string {
  return `vitascope-upload:${size}:${lastModified}:${name}`
}

/** Parses a stored upload. Returns undefined for any other text. */
export function parseUpload(text: string): ResumableUpload | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  const { path, stored, wanted } = asObject(json)
  const [storedDetails, wantedDetails] = [parseDetails(stored), parseDetails(wanted)]
  if (typeof path !== 'string' || !path.startsWith('/') || !storedDetails || !wantedDetails) return undefined
  return { path, stored: storedDetails, wanted: wantedDetails }
}

function parseDetails(json: unknown): VideoDetails | undefined {
  const { title, description, visibility } = asObject(json)
  return isVisibility(visibility) ? { title: asText(title), description: asText(description), visibility } : undefined
}

/** Access key and organisation in the session storage of this tab. */
export const storedAccess = {
  read: (): { key: string; organisationId: string } => ({ key: readSession(KEY_NAME), organisationId: readSession(ORGANISATION_NAME) }),
  save({ key, organisationId }: { key: string; organisationId: string }): void {
    tryStorage(() => sessionStorage.setItem(KEY_NAME, key))
    tryStorage(() => sessionStorage.setItem(ORGANISATION_NAME, organisationId))
  },
}

const KEY_NAME = 'vitascope-key'
const ORGANISATION_NAME = 'vitascope-organisation'

function readSession(name: string): string {
  return tryStorage(() => sessionStorage.getItem(name)) ?? ''
}

/** The visibility that the user chose for new videos in this browser. */
export const storedVisibility = {
  read(): VideoDetails['visibility'] {
    const value = tryStorage(() => localStorage.getItem(VISIBILITY_NAME))
    return isVisibility(value) ? value : 'public'
  },
  save: (visibility: VideoDetails['visibility']): void => void tryStorage(() => localStorage.setItem(VISIBILITY_NAME, visibility)),
}

const VISIBILITY_NAME = 'vitascope-visibility'

/** Runs an access to the storage. Returns undefined if the browser denies the access. */
function tryStorage<Value>(use: () => Value): Value | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
