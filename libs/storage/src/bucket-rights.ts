import { PutBucketPolicyCommand } from '@aws-sdk/client-s3'
import type { ObjectArea } from './object-areas.ts'
import { openS3Client, type S3Options } from './s3-client.ts'

/** Components that use a bucket, each with its own keys. */
export const BUCKET_USERS = ['encoding', 'worker', 'delivery', 'backup'] as const
export type BucketUser = (typeof BUCKET_USERS)[number]

export interface PolicyStatement {
  Effect: 'Allow'
  Action: string[]
  Resource: string[]
}

/** Areas in which a worker creates objects. */
const WORKER_AREAS: readonly ObjectArea[] = ['work', 'media', 'slides']

/** Returns the rights of a component in a bucket as statements of an IAM policy. */
export function buildBucketRights(user: BucketUser, bucket: string): PolicyStatement[] {
  const objects = `arn:aws:s3:::${bucket}/*`
  const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement => ({
    Effect: 'Allow',
    Action: actions.map((action) => `s3:${action}`),
    Resource: [...resources],
  })
  const list = allow(['ListBucket'], [`arn:aws:s3:::${bucket}`])
  if (user === 'encoding') return [list, allow(['GetObject', 'PutObject', 'DeleteObject', 'AbortMultipartUpload'], [objects])]
  const read = [list, allow(['GetObject'], [objects])]
  if (user !== 'worker') return read
  const workerObjects = WORKER_AREAS.map((area) => `arn:aws:s3:::${bucket}/${area}/*`)
  return [...read, allow(['PutObject', 'AbortMultipartUpload'], workerObjects)]
}

/**
 * Replaces the policy of a bucket with one that grants each component its rights. `options`
 * contains the keys of the bucket's owner, `accessKeyIds` the key ids of the components,
 * of which one has several while its key is replaced.
 * Idempotent.
 */
export async function grantBucketRights(
  options: S3Options,
  accessKeyIds: Readonly<Record<BucketUser, readonly string[]>>,
  signal?: AbortSignal,
): Promise<void> {
  const { bucket } = options
  const statements = BUCKET_USERS.flatMap((user) =>
    buildBucketRights(user, bucket).map((statement) => ({ ...statement, Principal: { AWS: [...accessKeyIds[user]] } })),
  )
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: statements })
  const client = openS3Client(options)
  try {
    await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }), { ...(signal && { abortSignal: signal }) })
  } finally {
    client.destroy()
  }
}
