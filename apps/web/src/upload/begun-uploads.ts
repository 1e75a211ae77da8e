/**
 * The paths of uploads that are not complete, by the file: so that whoever chooses the same file again goes on where it broke off, also after
 * a restart of the browser. Without the key they are of no use to anybody.
 */
export const begunUploads = {
  find: (file: File): string | undefined => stored(() => localStorage.getItem(nameOf(file))) ?? undefined,
  keep: (file: File, path: string): void => void stored(() => localStorage.setItem(nameOf(file), path)),
  forget: (file: File): void => void stored(() => localStorage.removeItem(nameOf(file))),
}

function nameOf({ name, size, lastModified }: File): string {
  return `vitascope-upload:${size}:${lastModified}:${name}`
}

/** The key of this tab: gone with it. */
export const keptKey = {
  read: (): string => stored(() => sessionStorage.getItem(keyName)) ?? '',
  keep: (key: string): void => void stored(() => sessionStorage.setItem(keyName, key)),
}

const keyName = 'vitascope-key'

/** Browsers may forbid a page to store anything: then nothing is remembered. */
function stored<Value>(use: () => Value): Value | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
