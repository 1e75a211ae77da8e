import { X509Certificate } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { readEnvironment, readTls } from '@vitascope/config'
import { DomainError } from '@vitascope/errors'
import { createGrpcServer, type Identity, openChannel, openIdentity, serviceCall } from '@vitascope/grpc'
import { GetVideoResponse, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { type CertificateFiles, certificateFolder } from '@vitascope/testing/certificates'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { type Component, findPod, type Manifest, readSettings } from '../../support/chart.ts'
import type { TestCluster } from './cluster.ts'

/** A release whose Certificates are in a cluster. */
export interface Release {
  namespace: string
  manifests: readonly Manifest[]
}

/**
 * A service process with the certificate that Kubernetes would mount, and the callers that the
 * chart allows.
 */
export interface PlatformProcess {
  identity: Identity
  callers: readonly string[]
  /** Replaces the mounted files, as Kubernetes does when the secret has changed. */
  replace(files: CertificateFiles): Promise<void>
  end(): Promise<void>
}

const methods = { getVideo: VideoServiceService.getVideo }

/** Access to the certificates that cert-manager issues in a cluster. */
export function issuedIn({ core, kubectl }: TestCluster) {
  const readSecret = async (namespace: string, name: string): Promise<CertificateFiles> => {
    const { data = {} } = await core.readNamespacedSecret({ namespace, name })
    const text = (file: string) => Buffer.from(data[file] ?? '', 'base64').toString()
    return { 'tls.crt': text('tls.crt'), 'tls.key': text('tls.key'), 'ca.crt': text('ca.crt') }
  }
  return {
    readSecret,
    /**
     * Waits until all Certificates of a namespace are ready. Throws the status of cert-manager
     * after one minute.
     */
    ready(namespace: string): void {
      try {
        kubectl(['wait', 'certificates', '--all', '--for=condition=Ready', '--timeout=60s', '--namespace', namespace], [])
      } catch (error) {
        const output = kubectl(['get', 'issuers,certificates,certificaterequests', '--output=wide', '--namespace', namespace], [])
        throw new Error(`${(error as Error).message}\n${output}`, { cause: error })
      }
    },
    /** Returns the planned renewal time of a certificate. */
    getRenewal(namespace: string, name: string): Date {
      return new Date(kubectl(['get', 'certificate', name, '--output=jsonpath={.status.renewalTime}', '--namespace', namespace], []))
    },
    /** Renews a certificate as `cmctl renew` does. */
    renew(namespace: string, name: string): void {
      const now = new Date().toISOString().replace(/[.]\d+/, '')
      const value = { type: 'Issuing', status: 'True', reason: 'ManuallyTriggered', message: 'by a test', lastTransitionTime: now }
      const patch = JSON.stringify([{ op: 'add', path: '/status/conditions/-', value }])
      kubectl(['patch', 'certificate', name, '--subresource=status', '--type=json', '--patch', patch, '--namespace', namespace], [])
    },
    /**
     * Returns the certificate files that the pods of a component mount. `encode` is the pods of
     * Jobs, in their own namespace.
     */
    mounted({ namespace, manifests }: Release, component: Component | 'encode', jobs = namespace): Promise<CertificateFiles> {
      const { volumes } = findPod(manifests, component)
      const name = volumes.find((volume) => volume.name === 'tls')?.secret?.secretName ?? ''
      return readSecret(component === 'encode' ? jobs : namespace, name)
    },
  }
}

/** Starts a process with these files and the chart's settings of the component. */
export async function startProcess(
  files: CertificateFiles,
  { manifests }: Release,
  component: Component | 'encode',
): Promise<PlatformProcess> {
  const { folder, replace } = await certificateFolder(files)
  const { VITASCOPE_TLS_CALLERS } = readSettings(manifests, component)
  const reader = readEnvironment({ VITASCOPE_TLS_DIR: folder, VITASCOPE_TLS_CALLERS })
  const settings = readTls(reader)
  reader.check()
  const identity = openIdentity(settings, { log: testLog, metrics: createMetrics('test'), pollMs: 20 })
  if (!settings || !identity) throw new Error('the settings contain no TLS folder')
  const end = async () => {
    identity.close()
    await rm(folder, { recursive: true })
  }
  return { identity, callers: settings.callers, replace, end }
}

/** Starts a gRPC server that accepts the allowed callers. */
export async function serve({ identity }: PlatformProcess): Promise<{ address: string; end(): Promise<void> }> {
  const server = createGrpcServer({ principals: testPrincipals(), identity, log: testLog, metrics: createMetrics('test') })
  server.implement(methods, { getVideo: async () => GetVideoResponse.create() })
  return { address: await server.listen('127.0.0.1:0'), end: () => server.drain(0) }
}

/**
 * Calls the service at an address by its name, on a new connection. Returns `answered`, or the
 * error.
 */
export async function call({ identity }: PlatformProcess, address: string, service: string): Promise<string> {
  const channel = openChannel(address, { service, principals: testPrincipals(), identity })
  try {
    await channel.client(methods).getVideo({ videoId: '7' }, serviceCall('test', 'r'))
    return 'answered'
  } catch (error) {
    return error instanceof DomainError ? error.reason : (error as Error).message
  } finally {
    channel.close()
  }
}

/** Returns all certificates of a PEM file in order. */
export function parseCertificates(pem: string): X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((block) => new X509Certificate(block))
}
