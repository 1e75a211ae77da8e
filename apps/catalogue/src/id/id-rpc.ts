import type { Handlers } from '@vitascope/grpc'
import { requireSystemUser } from '@vitascope/principal'
import type { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { createTextGenerator, createUniqueText, type TextGenerator } from '../rules/random-text.ts'
import type { IdStore } from './id-store.ts'

export function idHandlers(ids: IdStore, createText: TextGenerator = createTextGenerator()): Handlers<typeof IdServiceService> {
  return {
    nextId: async (_, { signal }) => ({ id: await ids.next(signal) }),
    async randomId({ length }, { principal, signal }) {
      requireSystemUser(principal)
      return { id: await createUniqueText(ids, createText, length, signal) }
    },
  }
}
