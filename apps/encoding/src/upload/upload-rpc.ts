import { DomainError, invalid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { type Codec, type Db, once } from '@vitascope/postgres'
import type { UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { maySee } from '../caller.ts'
import type { UploadDesk } from './upload-desk.ts'

const LONGEST_NAME = 255

export function uploadHandlers({
  db,
  desk,
  codec,
}: {
  db: Db
  desk: UploadDesk
  /** How answers are kept for retries: they open what was uploaded. */
  codec: <T>() => Codec<T>
}): Handlers<typeof UploadServiceService> {
  return {
    async getUploadConfig({ organisationId }, { principal }) {
      needOrganisation(principal, organisationId)
      const { bucket, maxBytes, endpoint, keys } = desk.place
      return { bucket, maxBytes, endpoint, region: keys.region, keyPrefix: desk.rulesOf(organisationId).keyPrefix }
    },
    async signPolicy({ organisationId, expiration, conditions }, { principal, signal, idempotency }) {
      needOrganisation(principal, organisationId)
      return once(db, { signal, idempotency }, codec(), () => desk.sign(organisationId, { expiration, conditions }, signal))
    },
    async completeUpload(request, { principal, requestId, signal, idempotency }) {
      const user = needUser(principal)
      const problems = [
        ...(request.key === '' ? [{ field: 'key', message: 'is required' }] : []),
        ...([...request.filename].length > LONGEST_NAME || request.filename.includes('\0')
          ? [{ field: 'name', message: `must have at most ${LONGEST_NAME} characters` }]
          : []),
        ...(request.presentationId !== '' && !request.isPresentation
          ? [{ field: 'presentation_id', message: 'is for presentations only' }]
          : []),
      ]
      if (problems.length > 0) throw invalid(problems)
      const organisationId = user.userType === 'system' ? undefined : user.organisationId
      const completion = { ...request, organisationId, userId: user.userId, requestId }
      return once(db, { signal, idempotency }, codec(), () => desk.complete(completion, signal))
    },
    async claimUpload({ organisationId, ...link }, { principal, signal }) {
      needOrganisation(principal, organisationId)
      const sourceUrl = isUuid(link.uploadId) ? await desk.claim(link, organisationId, signal) : undefined
      return { recognised: sourceUrl !== undefined, sourceUrl: sourceUrl ?? '' }
    },
  }
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
}

function needUser(principal: Principal) {
  if (principal.kind === 'user') return principal
  throw new DomainError('forbidden', 'USER_ONLY', 'this needs the key of a user')
}

function needOrganisation(principal: Principal, organisationId: string): void {
  const user = needUser(principal)
  if (!maySee(user, organisationId)) {
    throw new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'this key works in its own organisation only')
  }
  if (!/^[1-9]\d{0,18}$/.test(organisationId)) throw invalid([{ field: 'organisation_id', message: 'must be an id: digits' }])
}
