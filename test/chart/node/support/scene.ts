import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Api } from '../../../../e2e/support/api.ts'
import { type SourceServer, startSourceServer } from '../../../../e2e/support/source-server.ts'
import { makeSource, type SourceKind } from '../../../../e2e/support/sources.ts'
import { createTenant, type Tenant } from '../../../../e2e/support/video-steps.ts'
import { NETWORK } from '../../../cluster/node/network.ts'
import { prepareRelease, type Release } from './release.ts'

/** Common setup of tests on a Kubernetes node: the release, an organisation, and sources that pods can fetch. */
export interface Scene {
  platform: Release
  tenant: Tenant
  /** Client with the key of the tenant. */
  api: Api
  /** HTTP server on the test machine that serves the files in `folder`. */
  sources: SourceServer
  folder: string
  /** Stops the server and deletes `folder`. The release and the tenant remain. */
  end(): Promise<void>
}

/** Creates a scene with sources of these kinds. Installs the release if no earlier test file has installed it. */
export async function prepareScene(...kinds: readonly SourceKind[]): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-node-'))
  for (const kind of kinds) await makeSource(folder, kind)
  const platform = await prepareRelease()
  const tenant = await createTenant(platform.system)
  const sources = await startSourceServer(folder, NETWORK.machine)
  return {
    platform,
    tenant,
    api: platform.withKey(tenant.key),
    sources,
    folder,
    async end() {
      await sources.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
