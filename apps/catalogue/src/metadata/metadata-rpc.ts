import { notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import type { MetadataServiceService } from '@vitascope/proto/catalogue/v1/metadata'
import { isId } from '@vitascope/request'
import { addEntries, changeEntries, checkEntries, checkNames, removeEntries } from './metadata.ts'
import type { MetadataStore } from './metadata-store.ts'

export function metadataHandlers(metadata: MetadataStore): Handlers<typeof MetadataServiceService> {
  return {
    async createMetadata({ videoId, entries }, call) {
      const { key, userId, isSystem } = readCaller(call.principal, videoId)
      checkEntries(entries, 'entries')
      return { createTime: await metadata.change(key, userId, (current) => addEntries(current, entries, isSystem), call) }
    },
    async updateMetadata({ videoId, changes }, { principal, signal }) {
      const { key, userId, isSystem } = readCaller(principal, videoId)
      checkEntries(changes, 'changes')
      return { updateTime: await metadata.change(key, userId, (current) => changeEntries(current, changes, isSystem), { signal }) }
    },
    async deleteMetadata({ videoId, names }, { principal, signal }) {
      const { key, userId, isSystem } = readCaller(principal, videoId)
      checkNames(names)
      return { deleteTime: await metadata.change(key, userId, (current) => removeEntries(current, names, isSystem), { signal }) }
    },
  }
}

function readCaller(principal: Principal, videoId: string) {
  const { userId, userType } = requireUser(principal)
  const key = { scope: getScope(principal), videoId }
  if (!isId(videoId)) throw notFound('video', videoId)
  return { key, userId, isSystem: userType === 'system' }
}
