import { DomainError } from '@vitascope/errors'

/**
 * Limits forms whose fields are still arriving, because their senders are not authenticated yet.
 */
export interface FormGate {
  /**
   * Counts a form until the returned function is called. Above `maxForms`, `reject` is called for
   * the oldest form of the client with the most forms.
   */
  begin(form: PendingForm): () => void
}

export interface PendingForm {
  /** Address of the client. */
  client: string
  reject(error: DomainError): void
}

/** Maximum pending forms. The fields of a form arrive within one round trip, so few are pending. */
export const MAX_PENDING_FORMS = 64

export function createFormGate(maxForms = MAX_PENDING_FORMS): FormGate {
  const clients = new Map<string, Set<PendingForm>>()
  let count = 0
  const end = (form: PendingForm) => {
    const forms = clients.get(form.client)
    if (!forms?.delete(form)) return
    count -= 1
    if (forms.size === 0) clients.delete(form.client)
  }
  return {
    begin(form) {
      const forms = clients.get(form.client) ?? new Set()
      clients.set(form.client, forms.add(form))
      count += 1
      if (count > maxForms) {
        const oldest = findOldestOfLargestClient(clients.values())
        if (oldest) {
          end(oldest)
          oldest.reject(new DomainError('unavailable', 'OVERLOADED', 'too many forms are being received; try again', { retryAfter: 1 }))
        }
      }
      return () => end(form)
    },
  }
}

/** Returns the oldest form of the client with the most forms. A set keeps its insertion order. */
function findOldestOfLargestClient(clients: Iterable<Set<PendingForm>>): PendingForm | undefined {
  let largest: Set<PendingForm> | undefined
  for (const forms of clients) if (largest === undefined || forms.size > largest.size) largest = forms
  return largest?.values().next().value
}
