import type { ObjectStoreSettings } from '@vitascope/config'
import { DomainError, invalid, notFound } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import type { MasterKeys } from '@vitascope/security'
import { isObjectName, type ObjectStorage, watchAccessKeys } from '@vitascope/storage'
import { checkPolicy, exactKey, formatKeyPrefix, type PolicyRules, parseOrganisation, type RequestedCondition } from './policy.ts'
import { derivedKeys, encodePolicy, formatCredential, readCredential, type SigningKeys, signPolicy } from './policy-signature.ts'
import { recordUpload } from './record-upload.ts'
import { isOwnLink, signLink, type UploadLink } from './upload-link.ts'
import type { UploadQuota } from './upload-quota.ts'
import { RETENTION_SECONDS, type StoredUpload, type UploadStore } from './upload-store.ts'

/** Destination and size limit of uploads. */
export interface UploadLocation {
  bucket: string
  maxBytes: number
  /** URL for the form. Empty for the embedded store. */
  endpoint: string
  region: string
  /** Returns the keys that sign policies. */
  signingKeys(): Promise<SigningKeys>
  /** Returns the keys that verify policies of posted forms. Empty if the bucket itself receives the forms. */
  verificationKeys(): readonly SigningKeys[]
}

export interface UploadService {
  location: UploadLocation
  /** Signs a policy. If it allows a single key, that object is bound to the organisation. */
  sign(
    organisationId: string,
    request: { expiration: string; conditions: readonly RequestedCondition[] },
    signal: AbortSignal,
  ): Promise<{ policy: string; signature: string }>
  /** Returns a signed link to an uploaded object. Throws UPLOAD_NOT_FOUND or ETAG_MISMATCH. */
  complete(completion: Completion, signal: AbortSignal): Promise<UploadLink & { presentationId: string }>
  /**
   * Returns the source URL of a job, or undefined if the link was not signed here. Throws if the
   * link has expired, or if the organisation has no such file.
   */
  claim(link: UploadLink, organisationId: string, signal: AbortSignal): Promise<string | undefined>
  /**
   * Removes an upload that nothing uses. Does nothing if a job reads it, or if it belongs to
   * another organisation.
   */
  discard(uploadId: string, organisationId: string, signal: AbortSignal): Promise<void>
  /** Returns true if the link was signed here and has not expired. */
  isValidLink(link: UploadLink): boolean
}

export interface Completion {
  key: string
  bucket: string
  etag: string
  filename: string
  isPresentation: boolean
  presentationId: string
  /** Organisation that must own the upload. Undefined if any organisation may own it. */
  organisationId: string | undefined
  userId: string
  requestId: string
}

/**
 * The form contains the policy and, in other fields, the values of its conditions. Both must fit
 * into the 64 KiB before the file.
 */
const MAX_POLICY_BYTES = 32 * 1024
/** Maximum size of one form in object stores (S3, POST Object). */
const MAX_POST_BYTES = 5 * 1024 ** 3
/**
 * Bucket, access key id and region of the embedded store. They have no meaning outside of policies.
 */
const EMBEDDED = { bucket: 'vitascope', accessKeyId: 'vitascope', region: 'us-east-1' }

/**
 * Returns where forms are posted. Forms for the bucket itself require keys that do not expire before their policy, and
 * have no fields for encryption. Otherwise the embedded store receives the forms, and writes their files to the bucket.
 */
export function uploadLocation({
  objects,
  maxBytes,
  secrets,
}: {
  objects: ObjectStoreSettings
  maxBytes: number
  secrets: MasterKeys
}): UploadLocation {
  if (!('s3' in objects) || objects.s3.accessKeyId === undefined || objects.s3.encryption) {
    const { bucket, region, accessKeyId } = EMBEDDED
    const keys = () => derivedKeys(secrets, 'upload policy').map((secretAccessKey) => ({ accessKeyId, region, secretAccessKey }))
    const signingKeys = async () => ({ accessKeyId, region, secretAccessKey: derivedKeys(secrets, 'upload policy')[0] })
    return { bucket, region, maxBytes, endpoint: '', signingKeys, verificationKeys: keys }
  }
  const { bucket, endpoint, region, accessKeyId, secretAccessKey, keyFiles, virtualHost } = objects.s3
  const url = new URL(endpoint)
  if (virtualHost) url.hostname = `${bucket}.${url.hostname}`
  else url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`
  const pair = { accessKeyId, secretAccessKey }
  const currentKeys = keyFiles === undefined ? async () => pair : watchAccessKeys({ ...objects.s3, ...pair, keyFiles })
  return {
    ...{ bucket, region, maxBytes: Math.min(maxBytes, MAX_POST_BYTES), endpoint: url.href.replace(/\/$/, '') },
    signingKeys: async () => ({ ...(await currentKeys()), region }),
    verificationKeys: () => [],
  }
}

export function createUploadService(tools: {
  uploads: UploadStore
  storage: ObjectStorage
  presentations: Pick<Client<typeof PresentationServiceService>, 'addSlides'>
  quota: UploadQuota
  location: UploadLocation
  secrets: MasterKeys
}): UploadService {
  const { uploads, storage, quota, presentations, location } = tools
  const linkKeys = () => derivedKeys(tools.secrets, 'upload link')

  return {
    location,
    async sign(organisationId, request, signal) {
      const keys = await location.signingKeys()
      const rules: PolicyRules = { bucket: location.bucket, keyPrefix: formatKeyPrefix(organisationId), maxBytes: location.maxBytes, keys }
      const policy = checkPolicy(request, rules, new Date())
      const text = encodePolicy(policy)
      if (text.length > MAX_POLICY_BYTES) {
        throw invalid([{ field: 'conditions', message: `must be shorter: the encoded policy may have at most ${MAX_POLICY_BYTES} bytes` }])
      }
      const key = exactKey(policy)
      if (key !== undefined && !(await uploads.bind(organisationId, key, signal))) {
        const index = request.conditions.findIndex(({ name }) => name.toLowerCase() === 'key')
        throw invalid([{ field: `conditions[${index}]`, message: 'is the key of another upload: choose a new one' }])
      }
      const credential = policy.conditions.find((condition) => condition.operator === 'eq' && condition.name === 'x-amz-credential')
      const date = credential?.operator === 'eq' ? readCredential(credential.value)?.date : undefined
      if (date === undefined) throw new Error(`the policy has no credential such as ${formatCredential(keys, '20301231')}`)
      return { policy: text, signature: signPolicy(text, keys, date) }
    },
    async complete(completion, signal) {
      const upload = await requireStoredUpload(completion, signal)
      const etag = completion.etag.replaceAll('"', '').toLowerCase()
      if (etag !== '' && upload.etag !== '' && etag !== upload.etag.toLowerCase()) {
        throw new DomainError('failed_precondition', 'ETAG_MISMATCH', 'the stored object has another etag; upload it again')
      }
      const filename = completion.filename || upload.filename || upload.object.split('/').at(-1) || 'file'
      if (!(await uploads.extendExpiry(upload.uploadId, filename, signal))) throw notFound('upload', completion.key)
      const presentationId = completion.isPresentation ? await addSlides(upload, filename, completion, signal) : ''
      return { ...signLink(upload.uploadId, Math.floor(Date.now() / 1000) + RETENTION_SECONDS, linkKeys()[0]), presentationId }
    },
    async claim(link, organisationId, signal) {
      if (!isOwnLink(link, linkKeys())) return undefined
      const invalidField = (field: string, message: string) => invalid([{ field, message }])
      if (link.expires * 1000 <= Date.now()) throw invalidField('expires', 'this link has expired: upload the file again')
      const upload = await uploads.findById(link.uploadId, signal)
      if (!upload || upload.organisationId !== organisationId)
        throw invalidField('upload_id', 'the organisation has no file with this link, or it was deleted')
      if (!(await uploads.extendExpiry(link.uploadId, '', signal)))
        throw invalidField('upload_id', 'the file of this link was deleted: upload it again')
      return `upload://${link.uploadId}/${encodeURIComponent(upload.filename)}`
    },
    async discard(uploadId, organisationId, signal) {
      const upload = await uploads.findById(uploadId, signal)
      if (upload?.organisationId !== organisationId || !(await uploads.drop(uploadId, signal))) return
      // The sweep deletes the object within a minute, unless a backup copies it.
      await quota.release(uploadId)
    },
    isValidLink: (link) => isOwnLink(link, linkKeys()) && link.expires * 1000 > Date.now(),
  }

  /**
   * Returns the upload. Throws if its object does not exist. An object whose exact key was in no
   * policy belongs to the organisation of its prefix.
   */
  async function requireStoredUpload({ key, bucket, organisationId }: Completion, signal: AbortSignal): Promise<StoredUpload> {
    const isValid = isObjectName(key) && (bucket === '' || bucket === location.bucket)
    const existing = isValid ? await uploads.find(key, signal) : undefined
    const owner = existing?.organisationId ?? (isValid ? parseOrganisation(key) : undefined)
    if (owner === undefined || (organisationId !== undefined && organisationId !== owner)) throw notFound('upload', key)
    const object = await storage.stat(key, signal)
    if (!object) throw notFound('upload', key)
    // The row of the embedded store has the etag of the received bytes. An external store reports
    // the current etag.
    const isEmbedded = location.endpoint === ''
    const etag = (isEmbedded ? existing?.etag : (object.etag ?? existing?.etag)) ?? ''
    const stored = { organisationId: owner, object: key, bytes: object.bytes, etag }
    // True if a form of the embedded store was aborted after the object was stored, but before it
    // was recorded.
    const isUnrecorded = isEmbedded && existing?.bytes === undefined
    const upload = isUnrecorded ? await recordUpload({ uploads, quota }, stored, signal) : await uploads.recordObject(stored, signal)
    if (!upload) throw notFound('upload', key)
    return upload
  }

  async function addSlides(upload: StoredUpload, filename: string, completion: Completion, signal: AbortSignal): Promise<string> {
    const request = {
      presentationId: completion.presentationId,
      organisationId: upload.organisationId,
      userId: completion.userId,
      filename,
      sourceObject: upload.object,
      sourceBytes: upload.bytes ?? 0,
      uploadId: upload.uploadId,
    }
    return (await presentations.addSlides(request, serviceCall('encoding', completion.requestId, signal))).presentationId
  }
}
