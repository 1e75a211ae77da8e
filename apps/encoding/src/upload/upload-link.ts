import { createHmac } from 'node:crypto'
import { isSameText } from './policy-signature.ts'

/** A signed link to an upload. It grants access to the file without any other permission. */
export interface UploadLink {
  uploadId: string
  /** Seconds since 1970. */
  expires: number
  /** Lower-case hex. */
  signature: string
}

export function signLink(uploadId: string, expires: number, secret: string): UploadLink {
  const signature = createHmac('sha256', secret).update(`${uploadId}\n${expires}`).digest('hex')
  return { uploadId, expires, signature }
}

/** Returns true if the signature is that of one of the secrets, whether or not the link has expired. */
export function isOwnLink({ uploadId, expires, signature }: UploadLink, secrets: readonly string[]): boolean {
  return secrets.some((secret) => isSameText(signature, signLink(uploadId, expires, secret).signature))
}
