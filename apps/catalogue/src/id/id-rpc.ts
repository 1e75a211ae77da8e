import type { Handlers } from '@vitascope/grpc'
import type { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { requireSystem } from '../visibility.ts'
import type { IdStore } from './id-store.ts'
import { giveText, type TextMaker, textMaker } from './random-text.ts'

export function idHandlers(ids: IdStore, make: TextMaker = textMaker()): Handlers<typeof IdServiceService> {
  return {
    nextId: async (_, { signal }) => ({ id: await ids.next(signal) }),
    async randomId({ length }, { principal, signal }) {
      requireSystem(principal)
      return { id: await giveText(ids, make, length, signal) }
    },
  }
}
