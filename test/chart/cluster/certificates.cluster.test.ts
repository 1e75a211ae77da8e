import { createPrivateKey, randomBytes, type X509Certificate } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { CertificateFiles } from '@vitascope/testing/certificates'
import { type Component, components, describeChart, find, type Manifest, render } from '../support/chart.ts'
import { openCluster } from './support/cluster.ts'
import { call, issuedIn, type PlatformProcess, parseCertificates, type Release, serve, startProcess } from './support/issued.ts'

jest.setTimeout(180_000)

/** Error of a call if the service has another name than the caller expects, or if one side does not trust the CA of the other. */
const UNREACHABLE = 'SERVICE_UNAVAILABLE'
const cluster = openCluster()
const issued = issuedIn(cluster)
const buildNamespace = () => `videos-${randomBytes(4).toString('hex')}`
/** Separate namespace for Kubernetes Jobs. */
const jobs = buildNamespace()
const webEnabled = { web: { enabled: true } }
const alone: Release = release('cloudnativepg', webEnabled)
const shared: Release = release('jobs', {
  ...webEnabled,
  encoding: { executor: { kubernetes: { namespace: jobs } } },
  tls: { certManager: { duration: '48h', renewBefore: '12h' } },
})

function release(set: string, values: object): Release {
  const namespace = buildNamespace()
  let manifests: Manifest[] | undefined
  return {
    namespace,
    // Lazy, because Helm must be available first.
    get manifests() {
      manifests ??= render([set], values, ['--namespace', namespace])
      return manifests
    },
  }
}

/**
 * Namespace of the issuer in `tls.certManager.issuer` of the values `jobs`: an intermediate CA,
 * like that of a company.
 */
const CERT_MANAGER = 'cert-manager'
const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'cert-manager.io/v1',
  kind,
  metadata: { name, ...(kind === 'Certificate' ? { namespace: CERT_MANAGER } : {}) },
  spec,
})
const authority = (name: string, issuer: string) => ({
  isCA: true,
  commonName: name,
  secretName: name,
  privateKey: { algorithm: 'ECDSA', size: 256 },
  issuerRef: { name: issuer, kind: 'ClusterIssuer' },
})
const authorities = [
  object('ClusterIssuer', 'self', { selfSigned: {} }),
  object('Certificate', 'company', authority('company', 'self')),
  object('ClusterIssuer', 'company', { ca: { secretName: 'company' } }),
  object('Certificate', 'videos', authority('videos', 'company')),
  object('ClusterIssuer', 'videos', { ca: { secretName: 'videos' } }),
]

/** Cleanup functions, run in reverse order. */
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startWithCertificates(of: Release, component: Component | 'encode'): Promise<PlatformProcess> {
  const started = await startProcess(await issued.mounted(of, component, jobs), of, component)
  cleanups.push(started.end)
  return started
}
async function startServing(started: PlatformProcess): Promise<string> {
  const { address, end } = await serve(started)
  cleanups.push(end)
  return address
}
const seconds = (text: string) => Number(/^(\d+)h$/.exec(text)?.[1]) * 3_600
/** Public key of a CA. While a new CA is issued, cert-manager may renew its certificate for the same key at once. */
const readCaKey = (certificates: string) => parseCertificates(certificates)[0]?.publicKey.export({ type: 'spki', format: 'pem' })
const parseLeaf = (files: CertificateFiles) => parseCertificates(files['tls.crt'])[0] as X509Certificate

describeChart('certificates issued by cert-manager', () => {
  beforeAll(async () => {
    await cluster.startCertManager()
    await cluster.core.createNamespace({ body: { metadata: { name: CERT_MANAGER } } })
    cluster.kubectl(['create', '--validate=strict', '-f', '-'], authorities)
    for (const { namespace, manifests } of [alone, shared]) {
      await cluster.makeNamespace(namespace)
      const withNamespace = ({ metadata, ...rest }: Manifest) => ({ ...rest, metadata: { namespace, ...metadata } })
      const namespaces = manifests.filter(({ kind }) => kind === 'Namespace')
      const applied = manifests.filter(({ apiVersion }) => apiVersion === 'cert-manager.io/v1').map(withNamespace)
      cluster.kubectl(['create', '--validate=strict', '-f', '-'], [...namespaces, ...applied])
    }
    for (const namespace of [CERT_MANAGER, alone.namespace, shared.namespace, jobs]) issued.ready(namespace)
  })
  afterAll(() => cluster.stopCertManager())

  const releases: [string, Release, { namespace: string; name: string }, string, string][] = [
    ['the CA of the release', alone, { namespace: alone.namespace, name: 'videos-vitascope-ca' }, '720h', '240h'],
    ['a ClusterIssuer', shared, { namespace: CERT_MANAGER, name: 'company' }, '48h', '12h'],
  ]

  test.each(releases)('those of %s have all names of the component, both key usages, and the configured duration', async (...args) => {
    const [, of, root, duration, renewBefore] = args
    const trustedKey = readCaKey((await issued.readSecret(root.namespace, root.name))['tls.crt'])
    expect(trustedKey).toBeDefined()
    const serialNumbers = new Set<string>()
    for (const component of components) {
      const files = await issued.mounted(of, component)
      expect(readCaKey(files['ca.crt'])).toBe(trustedKey)
      const chain = parseCertificates(files['tls.crt'] + files['ca.crt'])
      for (const [index, one] of chain.entries()) {
        const issuer = chain[Math.min(index + 1, chain.length - 1)] as X509Certificate
        expect([component, one.checkIssued(issuer), one.verify(issuer.publicKey)]).toEqual([component, true, true])
      }
      const leaf = parseLeaf(files)
      expect(leaf.checkPrivateKey(createPrivateKey(files['tls.key']))).toBe(true)
      expect(leaf.ca).toBe(false)
      // Server and client authentication.
      expect([...(leaf.keyUsage ?? [])].sort()).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
      const host = `videos-vitascope-${component}`
      const names = [
        component,
        ...[host, `${host}.${of.namespace}`, `${host}.${of.namespace}.svc`, `${host}.${of.namespace}.svc.cluster.local`],
      ]
      expect(leaf.subjectAltName?.split(', ')).toEqual(names.map((name) => `DNS:${name}`))
      const lifetime = (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / 1_000
      expect(Math.abs(lifetime - seconds(duration))).toBeLessThanOrEqual(1)
      const renewal = issued.getRenewal(of.namespace, find(of.manifests, 'Certificate', component).metadata.name)
      expect(leaf.validToDate.getTime() - renewal.getTime()).toBe(seconds(renewBefore) * 1_000)
      serialNumbers.add(leaf.serialNumber)
    }
    expect(serialNumbers.size).toBe(components.length)
  })

  test.each(releases)('those of %s allow calls of the configured callers only, and only by the name of the service', async (_, of) => {
    const processes = await Promise.all(components.map(async (name) => ({ name, process: await startWithCertificates(of, name) })))
    const services = processes.filter(({ process }) => process.callers.length > 0)
    expect(services.map(({ name }) => name)).toEqual(['auth', 'catalogue', 'encoding', 'delivery', 'collaboration', 'analytics'])
    for (const { name, process } of services) {
      const address = await startServing(process)
      const outcomes = await Promise.all(processes.map(async (caller) => [caller.name, await call(caller.process, address, name)] as const))
      const admitted = outcomes.filter(([, outcome]) => outcome === 'answered').map(([caller]) => caller)
      expect([name, ...admitted.sort()]).toEqual([name, ...[...process.callers].sort()])
      const rejections = outcomes.filter(([, outcome]) => outcome !== 'answered').map(([, outcome]) => outcome)
      expect(rejections.filter((outcome) => !outcome.includes('PERMISSION_DENIED'))).toEqual([])
      const otherName = services.find((service) => service.name !== name)?.name ?? ''
      const [caller] = processes.filter((one) => process.callers.includes(one.name))
      if (!caller) throw new Error(`${name} has no callers`)
      expect(await call(caller.process, address, otherName)).toBe(UNREACHABLE)
    }
  })

  test('those of two releases with separate CAs do not trust each other', async () => {
    const [gateway, otherGateway] = [await startWithCertificates(alone, 'gateway'), await startWithCertificates(shared, 'gateway')]
    const address = await startServing(await startWithCertificates(alone, 'catalogue'))
    expect([await call(gateway, address, 'catalogue'), await call(otherGateway, address, 'catalogue')]).toEqual(['answered', UNREACHABLE])
  })

  test('those of Jobs are in the namespace of the Jobs, and are accepted by encoding only', async () => {
    const pod = await startWithCertificates(shared, 'encode')
    expect(parseLeaf(await issued.mounted(shared, 'encode', jobs)).subjectAltName).toBe('DNS:worker')
    const [encoding, catalogue] = [
      await startServing(await startWithCertificates(shared, 'encoding')),
      await startServing(await startWithCertificates(shared, 'catalogue')),
    ]
    expect(await call(pod, encoding, 'encoding')).toBe('answered')
    expect(await call(pod, catalogue, 'catalogue')).toContain('PERMISSION_DENIED')
  })

  const ca = 'videos-vitascope-ca'
  const ownAuthority = () => issued.readSecret(alone.namespace, ca)
  const readMounted = (component: Component) => () => issued.mounted(alone, component)
  /** Runs an action that replaces the certificate files, waits until they differ, and returns the new ones. */
  async function waitForNextFiles(files: () => Promise<CertificateFiles>, action: () => unknown): Promise<CertificateFiles> {
    const before = (await files())['tls.crt']
    await action()
    const changed = async () => {
      const current = await files()
      return current['tls.crt'] === before ? undefined : current
    }
    return waitFor(changed, { timeout: 60_000, describe: 'other files' })
  }
  const renewCertificate = (name: string) => () => issued.renew(alone.namespace, name)
  const removeSecret = (name: string) => () => cluster.core.deleteNamespacedSecret({ namespace: alone.namespace, name })

  test('a removed secret is reissued with another key, which a running process loads', async () => {
    const before = await readMounted('auth')()
    const [auth, gateway] = [await startWithCertificates(alone, 'auth'), await startWithCertificates(alone, 'gateway')]
    const address = await startServing(auth)
    const after = await waitForNextFiles(readMounted('auth'), removeSecret('videos-vitascope-auth-tls'))
    expect([after['tls.key'] === before['tls.key'], readCaKey(after['ca.crt'])]).toEqual([false, readCaKey(before['ca.crt'])])
    await auth.replace(after)
    await waitFor(() => auth.identity.current().cert.toString() === after['tls.crt'])
    expect(await call(gateway, address, 'auth')).toBe('answered')
  })

  test('those from before and after the renewal of a release CA trust each other', async () => {
    const before = { auth: await startWithCertificates(alone, 'auth'), gateway: await startWithCertificates(alone, 'gateway') }
    await waitForNextFiles(ownAuthority, renewCertificate(ca))
    // cert-manager may notice its own write later than other watchers.
    const isSignedByNextAuthority = async () =>
      (await waitForNextFiles(readMounted('auth'), renewCertificate('videos-vitascope-auth')))['ca.crt'] ===
      (await ownAuthority())['tls.crt']
    await waitFor(isSignedByNextAuthority, { timeout: 60_000, describe: 'a certificate of the renewed CA' })
    await waitForNextFiles(readMounted('gateway'), renewCertificate('videos-vitascope-gateway'))
    const after = { auth: await startWithCertificates(alone, 'auth'), gateway: await startWithCertificates(alone, 'gateway') }
    const calls = [
      call(before.gateway, await startServing(after.auth), 'auth'),
      call(after.gateway, await startServing(before.auth), 'auth'),
    ]
    expect(await Promise.all(calls)).toEqual(['answered', 'answered'])
  })

  test('those of a new CA do not trust those of the removed one, and are issued when their own secrets are removed', async () => {
    const oldGateway = await startWithCertificates(alone, 'gateway')
    const authority = await waitForNextFiles(ownAuthority, removeSecret(ca))
    for (const component of ['auth', 'gateway'] as const) {
      const renewedFiles = await waitForNextFiles(readMounted(component), removeSecret(`videos-vitascope-${component}-tls`))
      expect(readCaKey(renewedFiles['ca.crt'])).toBe(readCaKey(authority['tls.crt']))
    }
    const [address, gateway] = [
      await startServing(await startWithCertificates(alone, 'auth')),
      await startWithCertificates(alone, 'gateway'),
    ]
    expect([await call(gateway, address, 'auth'), await call(oldGateway, address, 'auth')]).toEqual(['answered', UNREACHABLE])
  })
})
