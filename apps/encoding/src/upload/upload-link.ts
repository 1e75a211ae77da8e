import { createHmac } from 'node:crypto'
import { isSameText } from './policy-signature.ts'

/** What proves that an upload may be used: whoever has it needs no other right to the file. */
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

/** Whether it is one of ours, be it over or not. */
export function isOwnLink({ uploadId, expires, signature }: UploadLink, secret: string): boolean {
  return isSameText(signature, signLink(uploadId, expires, secret).signature)
}
