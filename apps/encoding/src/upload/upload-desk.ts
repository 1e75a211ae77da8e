import type { ObjectStoreSettings } from '@vitascope/config'
import { DomainError, invalid, notFound } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { isObjectName, type ObjectStorage } from '@vitascope/storage'
import { checkPolicy, exactKey, type GivenCondition, keyPrefixOf, organisationOfKey, type PolicyRules } from './policy.ts'
import { credentialOf, derivedKey, encodePolicy, readCredential, type SigningKeys, signPolicy } from './policy-signature.ts'
import { isOwnLink, signLink, type UploadLink } from './upload-link.ts'
import { KEPT_SECONDS, type StoredUpload, type UploadStore } from './upload-store.ts'

/** Where uploads go, and how large they may be. */
export interface UploadPlace {
  bucket: string
  maxBytes: number
  /** Where the form is posted; empty where we take it ourselves. */
  endpoint: string
  keys: SigningKeys
}

export interface UploadDesk {
  place: UploadPlace
  rulesOf(organisationId: string): PolicyRules
  /** Signs a policy; an object that it names alone is the organisation's from then on. */
  sign(
    organisationId: string,
    asked: { expiration: string; conditions: readonly GivenCondition[] },
    signal: AbortSignal,
  ): Promise<{ policy: string; signature: string }>
  complete(asked: Completion, signal: AbortSignal): Promise<UploadLink & { presentationId: string }>
  /** The source of a job; undefined where the link is none of ours. */
  claim(link: UploadLink, organisationId: string, signal: AbortSignal): Promise<string | undefined>
  /** Whether a link is ours, and not over. */
  opens(link: UploadLink): boolean
}

export interface Completion {
  key: string
  bucket: string
  etag: string
  filename: string
  isPresentation: boolean
  presentationId: string
  /** Undefined for any. */
  organisationId: string | undefined
  userId: string
  requestId: string
}

/** What object stores take in one form (S3, POST Object). */
const MOST_POST_BYTES = 5 * 1024 ** 3
/** The bucket of the embedded store has a name for policies alone. */
const EMBEDDED = { bucket: 'vitascope', accessKeyId: 'vitascope', region: 'us-east-1' }

export function uploadPlace({
  objects,
  maxBytes,
  secret,
}: {
  objects: ObjectStoreSettings
  maxBytes: number
  secret: string
}): UploadPlace {
  if (!('s3' in objects)) {
    const { bucket, ...own } = EMBEDDED
    return { bucket, maxBytes, endpoint: '', keys: { ...own, secretAccessKey: derivedKey(secret, 'upload policy') } }
  }
  const { bucket, endpoint, region, accessKeyId, secretAccessKey, virtualHost } = objects.s3
  const url = new URL(endpoint)
  if (virtualHost) url.hostname = `${bucket}.${url.hostname}`
  else url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`
  const keys = { accessKeyId, secretAccessKey, region }
  return { bucket, maxBytes: Math.min(maxBytes, MOST_POST_BYTES), endpoint: url.href.replace(/\/$/, ''), keys }
}

export function createUploadDesk(tools: {
  uploads: UploadStore
  storage: ObjectStorage
  presentations: Pick<Client<typeof PresentationServiceService>, 'addSlides'>
  place: UploadPlace
  secret: string
}): UploadDesk {
  const { uploads, storage, presentations, place } = tools
  const linkKey = derivedKey(tools.secret, 'upload link')
  const rulesOf = (organisationId: string): PolicyRules => ({
    bucket: place.bucket,
    keyPrefix: keyPrefixOf(organisationId),
    maxBytes: place.maxBytes,
    keys: place.keys,
  })

  return {
    place,
    rulesOf,
    async sign(organisationId, asked, signal) {
      const policy = checkPolicy(asked, rulesOf(organisationId), new Date())
      const key = exactKey(policy)
      if (key !== undefined && !(await uploads.bind(organisationId, key, signal))) {
        const index = asked.conditions.findIndex(({ name }) => name.toLowerCase() === 'key')
        throw invalid([{ field: `conditions[${index}]`, message: 'is the key of another upload: choose a new one' }])
      }
      const text = encodePolicy(policy)
      const credential = policy.conditions.find((one) => one.operator === 'eq' && one.name === 'x-amz-credential')
      const date = credential?.operator === 'eq' ? readCredential(credential.value)?.date : undefined
      if (date === undefined) throw new Error(`a policy without a credential such as ${credentialOf(place.keys, '20301231')}`)
      return { policy: text, signature: signPolicy(text, place.keys, date) }
    },
    async complete(asked, signal) {
      const upload = await arrived(asked, signal)
      const given = asked.etag.replaceAll('"', '').toLowerCase()
      if (given !== '' && upload.etag !== '' && given !== upload.etag.toLowerCase()) {
        throw new DomainError('refused', 'ETAG_MISMATCH', 'the object that is there has another etag: upload it again')
      }
      const filename = asked.filename || upload.filename || upload.object.split('/').at(-1) || 'file'
      if (!(await uploads.keep(upload.uploadId, filename, signal))) throw notFound('upload', asked.key)
      const presentationId = asked.isPresentation ? await addSlides(upload, filename, asked, signal) : ''
      return { ...signLink(upload.uploadId, Math.floor(Date.now() / 1000) + KEPT_SECONDS, linkKey), presentationId }
    },
    async claim(link, organisationId, signal) {
      if (!isOwnLink(link, linkKey)) return undefined
      const bad = (message: string) => invalid([{ field: 'url', message }])
      if (link.expires * 1000 <= Date.now()) throw bad('this link is over: upload the file again')
      const upload = await uploads.findById(link.uploadId, signal)
      if (!upload || upload.organisationId !== organisationId)
        throw bad('the file of this link is not, or no longer, one of the organisation')
      if (!(await uploads.keep(link.uploadId, '', signal))) throw bad('the file of this link is gone: upload it again')
      return `upload://${link.uploadId}/${encodeURIComponent(upload.filename)}`
    },
    opens: (link) => isOwnLink(link, linkKey) && link.expires * 1000 > Date.now(),
  }

  /** The upload, once its object is there. One that nobody signed for by its name belongs to the organisation of its prefix. */
  async function arrived({ key, bucket, organisationId }: Completion, signal: AbortSignal): Promise<StoredUpload> {
    const isThere = isObjectName(key) && (bucket === '' || bucket === place.bucket)
    const known = isThere ? await uploads.find(key, signal) : undefined
    const owner = known?.organisationId ?? (isThere ? organisationOfKey(key) : undefined)
    if (owner === undefined || (organisationId !== undefined && organisationId !== owner)) throw notFound('upload', key)
    const object = await storage.stat(key, signal)
    if (!object) throw notFound('upload', key)
    // Where we are the store, the row has the etag of what came; else the store says what is there now.
    const etag = object.etag ?? known?.etag ?? ''
    const upload = await uploads.arrived({ organisationId: owner, object: key, bytes: object.bytes, etag }, signal)
    if (!upload) throw notFound('upload', key)
    return upload
  }

  async function addSlides(upload: StoredUpload, filename: string, asked: Completion, signal: AbortSignal): Promise<string> {
    const request = {
      presentationId: asked.presentationId,
      organisationId: upload.organisationId,
      userId: asked.userId,
      filename,
      sourceObject: upload.object,
      sourceBytes: upload.bytes ?? 0,
    }
    return (await presentations.addSlides(request, serviceCall('encoding', asked.requestId, signal))).presentationId
  }
}
