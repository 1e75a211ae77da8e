import { invalid, requireValid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { type Codec, type Db, withIdempotency } from '@vitascope/postgres'
import { canSee, foreignOrganisation, requireUser } from '@vitascope/principal'
import type { UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { checkText, isId, isUuid } from '@vitascope/request'
import { formatKeyPrefix } from './policy.ts'
import type { UploadService } from './upload-service.ts'
import { TICKET_KINDS, type TicketService } from './upload-ticket.ts'
import { VISIBILITIES } from './visibilities.ts'

const MAX_NAME_LENGTH = 255
const MIN_TICKET_SECONDS = 60
const MAX_TICKET_SECONDS = 86_400

export function uploadHandlers({
  db,
  service,
  tickets,
  codec,
}: {
  db: Db
  service: UploadService
  tickets: TicketService
  /**
   * Codec of responses stored for idempotency. They grant access to uploads, so they are encrypted.
   */
  codec: <T>() => Codec<T>
}): Handlers<typeof UploadServiceService> {
  return {
    async getUploadConfig({ organisationId }, { principal }) {
      requireOrganisation(principal, organisationId)
      const { bucket, maxBytes, endpoint, region } = service.location
      return { bucket, maxBytes, endpoint, region, keyPrefix: formatKeyPrefix(organisationId) }
    },
    async signPolicy({ organisationId, expiration, conditions }, { principal, signal, idempotency }) {
      requireOrganisation(principal, organisationId)
      return withIdempotency(db, { signal, idempotency }, codec(), () => service.sign(organisationId, { expiration, conditions }, signal))
    },
    async completeUpload(request, { principal, requestId, signal, idempotency }) {
      const user = requireUser(principal)
      const problems = [
        ...(request.key === '' ? [{ field: 'key', message: 'is required' }] : []),
        ...checkText('filename', request.filename, { max: MAX_NAME_LENGTH }),
        ...(request.presentationId !== '' && !request.isPresentation
          ? [{ field: 'presentation_id', message: 'is for presentations only' }]
          : []),
      ]
      requireValid(problems)
      const organisationId = user.userType === 'system' ? undefined : user.organisationId
      const completion = { ...request, organisationId, userId: user.userId, requestId }
      return withIdempotency(db, { signal, idempotency }, codec(), () => service.complete(completion, signal))
    },
    async claimUpload({ organisationId, ...link }, { principal, signal }) {
      requireOrganisation(principal, organisationId)
      const sourceUrl = isUuid(link.uploadId) ? await service.claim(link, organisationId, signal) : undefined
      return { recognised: sourceUrl !== undefined, sourceUrl: sourceUrl ?? '' }
    },
    async createTicket({ organisationId, maxBytes, lifetimeSeconds, kinds, title, visibility }, { principal, signal, idempotency }) {
      requireOrganisation(principal, organisationId)
      const problems = [
        ...checkText('title', title, { max: MAX_NAME_LENGTH }),
        ...(maxBytes < 0 || maxBytes > tickets.maxBytes
          ? [{ field: 'max_bytes', message: `must be 1 to ${tickets.maxBytes}, the maximum size of an upload` }]
          : []),
        ...(lifetimeSeconds < MIN_TICKET_SECONDS || lifetimeSeconds > MAX_TICKET_SECONDS
          ? [{ field: 'lifetime_seconds', message: `must be ${MIN_TICKET_SECONDS} to ${MAX_TICKET_SECONDS}` }]
          : []),
        ...(VISIBILITIES.some((known) => known === visibility)
          ? []
          : [{ field: 'visibility', message: `must be one of ${VISIBILITIES.join(', ')}` }]),
      ]
      const known = TICKET_KINDS.filter((kind) => kinds.includes(kind))
      if (known.length === 0 || known.length < kinds.length) {
        problems.push({ field: 'kinds', message: `must be one or more of ${TICKET_KINDS.join(', ')}, without repetitions` })
      }
      requireValid(problems)
      const owner = requireUser(principal)
      const limit = maxBytes === 0 ? tickets.maxBytes : maxBytes
      const ticket = { organisationId, owner, maxBytes: limit, kinds: known, lifetimeSeconds, title, visibility }
      return withIdempotency(db, { signal, idempotency }, codec(), async () => ({
        ...(await tickets.create(ticket, signal)),
        maxBytes: limit,
      }))
    },
    async discardUpload({ uploadId, organisationId }, { principal, signal }) {
      requireOrganisation(principal, organisationId)
      if (isUuid(uploadId)) await service.discard(uploadId, organisationId, signal)
      return {}
    },
  }
}

function requireOrganisation(principal: Principal, organisationId: string): void {
  if (!canSee(requireUser(principal), organisationId)) throw foreignOrganisation()
  if (!isId(organisationId)) throw invalid([{ field: 'organisation_id', message: 'must be an id' }])
}
