import { DeleteObjectCommand, ListObjectVersionsCommand, type ListObjectVersionsCommandOutput } from '@aws-sdk/client-s3'
import { openS3Client, type S3Options } from './s3-client.ts'

const CONCURRENT_REQUESTS = 16

/**
 * Restores the objects of a bucket with versioning that were deleted at `since` or later, by removing their delete
 * markers. The keys in `options` need `s3:ListBucketVersions` and `s3:DeleteObjectVersion`. Returns the number of removed
 * markers. Idempotent. A deletion at the same time may be restored or not.
 */
export async function restoreDeletedObjects(options: S3Options, since: Date, signal?: AbortSignal): Promise<number> {
  const { bucket } = options
  const client = openS3Client(options)
  const requestOptions = { ...(signal && { abortSignal: signal }) }
  let restored = 0
  try {
    let page: ListObjectVersionsCommandOutput | undefined
    do {
      const position = page && { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
      page = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, ...position }), requestOptions)
      // Object names are never reused, so a marker hides only the object that it deleted.
      const markers = (page.DeleteMarkers ?? []).filter(({ LastModified }) => LastModified !== undefined && LastModified >= since)
      for (let first = 0; first < markers.length; first += CONCURRENT_REQUESTS) {
        const requests = markers
          .slice(first, first + CONCURRENT_REQUESTS)
          .map(({ Key, VersionId }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key, VersionId }), requestOptions))
        restored += (await Promise.all(requests)).length
      }
    } while (page.IsTruncated)
  } finally {
    client.destroy()
  }
  return restored
}
