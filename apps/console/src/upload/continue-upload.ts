import { type UploadedVideo, type UploadOptions, type Vitascope, VitascopeError } from '@vitascope/sdk'
import { forgetUpload, recallUpload, rememberUpload } from './stored-uploads.ts'

/** Statuses after which the same upload can succeed later: a key or session that ended, and limits. */
const TEMPORARY: ReadonlySet<number> = new Set([401, 403, 408, 423, 429])

/**
 * Uploads a file. It continues the unfinished upload of the same file for the same purpose, such as that of a page that
 * was closed. `purpose` is the organisation, or also the media whose source the file replaces.
 */
export async function continueUpload(
  api: Vitascope,
  { file, purpose }: { file: File; purpose: string },
  options: Omit<UploadOptions, 'uploadId' | 'onStart'>,
): Promise<UploadedVideo> {
  const run = (uploadId: string | undefined) =>
    api.videos.upload(file, { ...options, uploadId, onStart: (id) => rememberUpload(file, purpose, id) })
  const earlier = recallUpload(file, purpose)
  try {
    const uploaded = await run(earlier).catch((error: unknown) => {
      // The earlier upload has been removed.
      if (earlier !== undefined && error instanceof VitascopeError && error.code === 'upload_not_found') return run(undefined)
      throw error
    })
    forgetUpload(file, purpose)
    return uploaded
  } catch (error) {
    if (error instanceof VitascopeError && error.status >= 400 && error.status < 500 && !TEMPORARY.has(error.status))
      forgetUpload(file, purpose)
    throw error
  }
}
