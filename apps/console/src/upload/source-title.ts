const MAX_LENGTH = 255

/** Returns the title of a video for the name of its file, without the extension. */
export function fileTitle(name: string): string {
  return name.replace(/(?<=.)\.[^.]+$/, '').slice(0, MAX_LENGTH)
}

/** Returns the title of a video for its address: the title of the last part of the path. Undefined if the path is empty. */
export function addressTitle(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const name = new URL(address).pathname.split('/').at(-1) ?? ''
  return fileTitle(decodeName(name)) || undefined
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch (error) {
    // A lone percent sign is part of the name.
    if (error instanceof URIError) return name
    throw error
  }
}
