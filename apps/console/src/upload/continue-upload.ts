import { isUploadOver, type UploadedVideo, type UploadOptions, type Vitascope } from '@vitascope/sdk'
import { forgetUpload, recallUpload, rememberUpload, whileUploading } from './stored-uploads.ts'

/** A file and the purpose of its upload, a result of `toPurpose`. */
interface Target {
  file: File
  purpose: string
}

/**
 * Uploads a file. It continues the unfinished upload of the same file for the same purpose, such as that of a page that
 * was closed.
 */
export async function continueUpload(
  api: Vitascope,
  { file, purpose }: Target,
  options: Omit<UploadOptions, 'uploadId' | 'onStart'>,
): Promise<UploadedVideo> {
  try {
    const uploaded = await whileUploading(file, purpose, () =>
      api.videos.upload(file, {
        ...options,
        uploadId: recallUpload(file, purpose),
        onStart: (id) => rememberUpload(file, purpose, id),
      }),
    )
    forgetUpload(file, purpose)
    return uploaded
  } catch (error) {
    if (isUploadOver(error)) forgetUpload(file, purpose)
    throw error
  }
}

/** Deletes the unfinished upload of a file, if there is one. Otherwise the platform deletes it after a day. */
export async function discardUpload(api: Vitascope, { file, purpose }: Target): Promise<void> {
  const upload_id = recallUpload(file, purpose)
  if (upload_id === undefined) return
  forgetUpload(file, purpose)
  await api.call('deleteTusUpload', { path: { upload_id } })
}
