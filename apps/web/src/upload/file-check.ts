import { readFormat } from './caption-file.ts'

const OTHER_TYPES = /^(image|text|font)\/|^application\/(pdf|zip|json|msword|vnd\.(ms-|openxmlformats|oasis))/

/**
 * Returns why a file cannot become a video, or undefined. The server reads more types than browsers
 * know, so an unknown type is accepted.
 */
export function explainUnusable({ name, type, size }: Pick<File, 'name' | 'type' | 'size'>): string | undefined {
  if (size === 0) return 'This file is empty. Choose another one.'
  if (readFormat(name) !== undefined) return 'This is a caption file. Add it in the details of its video.'
  return OTHER_TYPES.test(type) ? 'This is not a video or a sound recording. Choose another file.' : undefined
}
