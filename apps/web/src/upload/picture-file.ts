/** Types of files that the server accepts as the picture of a video. */
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp']

const MAX_PICTURE_BYTES = 10 * 2 ** 20

/**
 * Returns why a file cannot be the picture of a video, or undefined. The server checks the
 * contents.
 */
export function explainUnusablePicture({ name, type, size }: Pick<File, 'name' | 'type' | 'size'>): string | undefined {
  if (!PICTURE_TYPES.includes(type)) return `“${name}” is not a picture of a known kind. Choose a JPEG, PNG or WebP file.`
  if (size === 0) return `“${name}” is empty. Choose another file.`
  return size > MAX_PICTURE_BYTES ? `“${name}” is too large. A picture may have 10 MB.` : undefined
}
