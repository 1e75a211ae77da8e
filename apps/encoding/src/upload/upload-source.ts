/** A source that lies in storage already, as catalogue names it: `upload://ID/FILENAME`, or `tus://ID/FILENAME`. */
export interface UploadSource {
  kind: 'upload' | 'tus'
  uploadId: string
}

const FORM = /^(upload|tus):(?:\/\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/|$)/

export function readUploadSource(url: string): UploadSource | undefined {
  const [, kind, uploadId] = FORM.exec(url) ?? []
  return (kind === 'upload' || kind === 'tus') && uploadId !== undefined ? { kind, uploadId } : undefined
}

/** As jobs keep it: by this the sweep finds what is still read. */
export function sourceOfJob({ kind, uploadId }: UploadSource): string {
  return `${kind}:${uploadId}`
}
