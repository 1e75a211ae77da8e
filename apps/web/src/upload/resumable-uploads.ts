/**
 * Paths of incomplete uploads by file. When the user chooses the same file again, the upload
 * resumes, also after a restart of the browser. A path is useless without the API key.
 */
export const resumableUploads = {
  find: (file: File): string | undefined => stored(() => localStorage.getItem(storageNameOf(file))) ?? undefined,
  keep: (file: File, path: string): void => void stored(() => localStorage.setItem(storageNameOf(file), path)),
  forget: (file: File): void => void stored(() => localStorage.removeItem(storageNameOf(file))),
}

function storageNameOf({ name, size, lastModified }: File): string {
  return `vitascope-upload:${size}:${lastModified}:${name}`
}

/** API key, kept in the session storage of this tab. */
export const storedApiKey = {
  read: (): string => stored(() => sessionStorage.getItem(keyName)) ?? '',
  keep: (key: string): void => void stored(() => sessionStorage.setItem(keyName, key)),
}

const keyName = 'vitascope-key'

/** Browsers may deny access to storage. In that case nothing is stored. */
function stored<Value>(use: () => Value): Value | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
