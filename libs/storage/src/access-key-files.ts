import { readFile } from 'node:fs/promises'
import { HeadBucketCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'

/** A pair of keys of an object store. */
export interface AccessKeyPair {
  accessKeyId: string
  secretAccessKey: string
}

/** Files of a pair of keys. Without a file of the id, the id never changes. */
export interface AccessKeyFiles {
  accessKeyId?: string
  secretAccessKey: string
}

/** Receives the changes of a pair of keys. */
export interface AccessKeyListener {
  /** Called when the pair of the files is in use after a change or a problem. */
  onChange(): void
  /** Receives the reason if a new pair cannot be used. */
  onProblem(error: unknown): void
}

export interface KeyFileBucket extends AccessKeyPair {
  endpoint: string
  region: string
  bucket: string
  virtualHost?: boolean
  keyFiles: AccessKeyFiles
  keyListener?: AccessKeyListener
}

const CHECK_MS = 5_000
const TEST_TIMEOUT_MS = 5_000

/**
 * Returns a function that returns the current pair of keys of a bucket. It reads the files at most every 5 s. A new pair is
 * used when the store accepts it, so a key that is not active yet, or a pair of which one file is still old, causes no
 * failed request. Until then the previous pair stays in use, and the files are read every 5 s without requests.
 */
export function watchAccessKeys(bucket: KeyFileBucket): () => Promise<AccessKeyPair> {
  let current: AccessKeyPair = { accessKeyId: bucket.accessKeyId, secretAccessKey: bucket.secretAccessKey }
  let checkedMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  let problem: string | undefined
  let retry: NodeJS.Timeout | undefined
  const check = async () => {
    try {
      const next = await readPair(bucket)
      if (!areEqual(next, current)) {
        await testPair(bucket, next)
        current = next
        bucket.keyListener?.onChange()
      } else if (problem !== undefined) bucket.keyListener?.onChange()
      problem = undefined
    } catch (error) {
      const { message } = error as Error
      if (message !== problem) bucket.keyListener?.onProblem(error)
      problem = message
      // Without further requests, a repair of the files would never be reported.
      clearTimeout(retry)
      retry = setTimeout(startCheck, CHECK_MS).unref()
    }
    checkedMs = performance.now()
    checking = undefined
  }
  const startCheck = () => {
    checking ??= check()
  }
  return async () => {
    if (performance.now() - checkedMs >= CHECK_MS) startCheck()
    await checking
    return current
  }
}

async function readPair({ keyFiles, accessKeyId }: KeyFileBucket): Promise<AccessKeyPair> {
  const read = async (file: string) => (await readFile(file, 'utf8')).trim()
  const [id, secret] = await Promise.all([
    keyFiles.accessKeyId === undefined ? accessKeyId : read(keyFiles.accessKeyId),
    read(keyFiles.secretAccessKey),
  ])
  if (id === '' || secret === '') throw new Error('a file of the access key of the bucket is empty')
  return { accessKeyId: id, secretAccessKey: secret }
}

function areEqual(left: AccessKeyPair, right: AccessKeyPair): boolean {
  // Both are known to this process, so the time of the comparison reveals nothing.
  return JSON.stringify(left) === JSON.stringify(right)
}

/** Throws unless the store accepts the pair. */
async function testPair({ endpoint, region, bucket, virtualHost = false }: KeyFileBucket, credentials: AccessKeyPair): Promise<void> {
  const requestHandler = { connectionTimeout: TEST_TIMEOUT_MS, requestTimeout: TEST_TIMEOUT_MS }
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: !virtualHost, maxAttempts: 1, requestHandler })
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }))
  } catch (error) {
    // A response to HEAD has no body, so only its status is known.
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
    const reason = status === undefined ? (error as Error).name : `HTTP ${status}`
    throw new Error(`the object store does not accept the changed access key ${credentials.accessKeyId} (${reason})`, { cause: error })
  } finally {
    client.destroy()
  }
}
