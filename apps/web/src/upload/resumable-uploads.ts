/**
 * Paths of incomplete uploads by file. When the user chooses the same file again, the upload
 * resumes, also after a restart of the browser. A path is useless without the API key.
 */
export const resumableUploads = {
  find: (file: File): string | undefined => tryStorage(() => localStorage.getItem(toStorageName(file))) ?? undefined,
  save: (file: File, path: string): void => void tryStorage(() => localStorage.setItem(toStorageName(file), path)),
  forget: (file: File): void => void tryStorage(() => localStorage.removeItem(toStorageName(file))),
}

function toStorageName({ name, size, lastModified }: File): string {
  return `vitascope-upload:${size}:${lastModified}:${name}`
}

/** API key in the session storage of this tab. */
export const storedApiKey = {
  read: (): string => tryStorage(() => sessionStorage.getItem(keyName)) ?? '',
  save: (key: string): void => void tryStorage(() => sessionStorage.setItem(keyName, key)),
}

const keyName = 'vitascope-key'

/** Runs an access to the storage. Returns undefined if the browser denies the access. */
function tryStorage<Value>(use: () => Value): Value | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
