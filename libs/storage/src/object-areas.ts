/**
 * Areas of the storage: first segments of the names of objects that have rows in the database of
 * encoding. The sweep deletes their objects without a row, and a backup copies those with one.
 *
 * | area | objects |
 * |---|---|
 * | `media`, `slides` | published files of a video or a presentation, by media and lease |
 * | `source` | fetched sources, by job and lease |
 * | `tus` | parts of a resumable upload, by upload |
 * | `uploads` | files that browsers uploaded by form, by organisation |
 * | `work` | chunks and other intermediate files, by job and lease |
 */
export const OBJECT_AREAS = ['media', 'slides', 'source', 'tus', 'uploads', 'work'] as const

export type ObjectArea = (typeof OBJECT_AREAS)[number]

/** Returns the area of an object or a prefix, or undefined for a name that never has a row. */
export function findArea(name: string): ObjectArea | undefined {
  const [first] = name.split('/', 1)
  return OBJECT_AREAS.find((area) => area === first)
}
