import { rmSync } from 'node:fs'
import { freePort } from '@vitascope/embedded-postgres'
import { type ClusterLocation, startControlPlane, stopControlPlane } from './control-plane.ts'
import { failedStart } from './failed-start.ts'
import { provideHyperkube } from './hyperkube.ts'

/** A Kubernetes API without nodes, on loopback. It requires no root user. */
export interface ApiAlone {
  location: ClusterLocation
  kubeconfig: string
  /** Stops it and removes its folder. */
  stop(): Promise<void>
}

/**
 * Starts the real Kubernetes API with controllers and scheduler, without nodes. Tests set the
 * status of pods themselves.
 */
export async function startApiAlone(folder: string): Promise<ApiAlone> {
  const programs = await provideHyperkube()
  const ports = { api: await freePort(), etcd: await freePort(), peers: await freePort() }
  const location: ClusterLocation = { folder, programs, within: [], address: '127.0.0.1', advertise: '127.0.0.1', ports, hasNodes: false }
  const stop = async () => {
    await stopControlPlane(folder)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { location, kubeconfig: await startControlPlane(location), stop }
  } catch (error) {
    throw await failedStart(folder, error, stop)
  }
}
