import type { Handlers } from '@vitascope/grpc'
import type { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { type AccessListStore, listResources, registerResources } from './access-list.ts'

export function accessListHandlers(accessList: AccessListStore): Handlers<typeof AccessListServiceService> {
  return {
    async listResources(_request, call) {
      return { resources: await listResources(accessList, call) }
    },
    async registerResources({ resources }, call) {
      const newResources = resources.map(({ name, openToUsers }) => ({ name, openToUsers }))
      await registerResources(accessList, newResources, call)
      return {}
    },
  }
}
