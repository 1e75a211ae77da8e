import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Api } from '../../../../apps/standalone/test/support/api.ts'
import { type SourceServer, startSourceServer } from '../../../../apps/standalone/test/support/source-server.ts'
import { makeSource, type SourceKind } from '../../../../apps/standalone/test/support/sources.ts'
import { aTenant, type Tenant } from '../../../../apps/standalone/test/support/video-steps.ts'
import { NETWORK } from '../../../cluster/node/network.ts'
import { type House, theHouse } from './house.ts'

/** What most tests of a node begin with: the house, an organisation in it, and sources that its pods can fetch. */
export interface Scene {
  house: House
  tenant: Tenant
  /** Calls with the key of the tenant. */
  api: Api
  /** A server on the machine, of the files of the folder. */
  sources: SourceServer
  folder: string
  end(): Promise<void>
}

export async function aScene(...kinds: readonly SourceKind[]): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-node-'))
  for (const kind of kinds) await makeSource(folder, kind)
  const house = await theHouse()
  const tenant = await aTenant(house.system)
  const sources = await startSourceServer(folder, NETWORK.machine)
  return {
    house,
    tenant,
    api: house.withKey(tenant.key),
    sources,
    folder,
    async end() {
      await sources.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
