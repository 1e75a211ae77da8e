/**
 * A source that is already stored, in the catalogue's notation: `upload://ID/FILENAME` or
 * `tus://ID/FILENAME`.
 */
export interface UploadSource {
  kind: 'upload' | 'tus'
  uploadId: string
}

const FORM = /^(upload|tus):(?:\/\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/|$)/

export function readUploadSource(url: string): UploadSource | undefined {
  const [, kind, uploadId] = FORM.exec(url) ?? []
  return (kind === 'upload' || kind === 'tus') && uploadId !== undefined ? { kind, uploadId } : undefined
}

/** Returns the notation in jobs, by which the sweep finds uploads that are still in use. */
export function formatSource({ kind, uploadId }: UploadSource): string {
  return `${kind}:${uploadId}`
}
