import { rmSync } from 'node:fs'
import { freePort } from '@vitascope/embedded-postgres'
import { type Place, startControlPlane, stopControlPlane } from './control-plane.ts'
import { failedStart } from './failed-start.ts'
import { provideHyperkube } from './hyperkube.ts'

/** A cluster without nodes, on loopback, of any user. */
export interface ApiAlone {
  place: Place
  kubeconfig: string
  /** Ends it, and removes all that it kept. */
  stop(): Promise<void>
}

/** The Kubernetes API as it is, with its controllers and scheduler, and no node: a test says itself what becomes of pods. */
export async function startApiAlone(folder: string): Promise<ApiAlone> {
  const programs = await provideHyperkube()
  const ports = { api: await freePort(), etcd: await freePort(), peers: await freePort() }
  const place: Place = { folder, programs, within: [], address: '127.0.0.1', advertise: '127.0.0.1', ports, hasNodes: false }
  const stop = async () => {
    await stopControlPlane(folder)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { place, kubeconfig: await startControlPlane(place), stop }
  } catch (error) {
    throw await failedStart(folder, error, stop)
  }
}
