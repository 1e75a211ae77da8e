import { DomainError } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'

/** Jobs and work are handed out between services of the platform. */
export function onlyServices(caller: Principal): void {
  if (caller.kind !== 'service') throw new DomainError('forbidden', 'SERVICE_ONLY', 'only services of the platform may do this')
}

/** Whether a caller may see what belongs to an organisation. */
export function maySee(caller: Principal, organisationId: string): boolean {
  if (caller.kind === 'service') return true
  return caller.kind === 'user' && (caller.userType === 'system' || caller.organisationId === organisationId)
}
