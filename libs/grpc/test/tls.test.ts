// Faults: A20, K10
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { credentials, Client as GrpcClient, type ServiceError, status } from '@grpc/grpc-js'
import { beforeAll, expect, test } from '@jest/globals'
import { GetVideoResponse, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics, type Metrics } from '@vitascope/telemetry'
import { waitFor } from '@vitascope/testing'
import { type CertificateFiles, certificateFolder, createTestAuthority, type TestAuthority } from '@vitascope/testing/certificates'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { createGrpcServer, type Identity, openChannel, openIdentity, type ServeSettings, serviceCall } from '../src/index.ts'
import { log, openTestIdentity, undo } from './open-test-identity.ts'

const GET = { getVideo: VideoServiceService.getVideo }
/** Named like a write, so the client never retries it. */
const WRITE = { writeVideo: VideoServiceService.getVideo }

let authority: TestAuthority
beforeAll(async () => {
  authority = await createTestAuthority()
})

async function serve(identity: Identity | undefined, serveSettings?: ServeSettings, serverLog = log) {
  const options = { principals: testPrincipals(), identity, serve: serveSettings, metrics: createMetrics('test') }
  const server = createGrpcServer({ ...options, log: serverLog })
  server.implement(GET, { getVideo: async () => GetVideoResponse.create() })
  server.implement(
    { writeVideo: { ...WRITE.writeVideo, path: '/test.Writes/WriteVideo' } },
    { writeVideo: async () => GetVideoResponse.create() },
  )
  const address = await server.listen('127.0.0.1:0')
  undo.push(() => server.drain(0))
  return { server, address }
}

function caller(address: string, identity: Identity | undefined, service = 'catalogue') {
  const channel = openChannel(address, { service, principals: testPrincipals(), identity })
  undo.push(channel.close)
  const call = () => channel.client(GET).getVideo({ videoId: '7' }, serviceCall('test', 'r'))
  const writes = channel.client({ writeVideo: { ...WRITE.writeVideo, path: '/test.Writes/WriteVideo' } })
  return { ask: call, write: () => writes.writeVideo({ videoId: '7' }, serviceCall('test', 'r')) }
}

const figure = async (metrics: Metrics, name: string) => Number(new RegExp(`^${name}{[^}]*} (.+)$`, 'm').exec(await metrics.text())?.[1])
const AWAY = { kind: 'unavailable', reason: 'SERVICE_UNAVAILABLE' }

test('a caller that is listed is accepted, and any other is rejected for every method', async () => {
  const catalogue = await openTestIdentity(await authority.issue(['catalogue']), ['gateway', 'encoding'])
  const { address } = await serve(catalogue.identity)
  const gateway = await openTestIdentity(await authority.issue(['vitascope-gateway', 'gateway']))
  const worker = await openTestIdentity(await authority.issue(['worker', 'gateway.example.org', '*.gateway']))
  expect(await caller(address, gateway.identity).ask()).toEqual(GetVideoResponse.create())
  await expect(caller(address, worker.identity).ask()).rejects.toThrow('PERMISSION_DENIED')
})

test('the log has the names and the address of a rejected caller once, and not for each of its calls', async () => {
  const lines: object[] = []
  const recorder = { warn: (fields: object) => void lines.push(fields) } as unknown as typeof log
  const catalogue = await openTestIdentity(await authority.issue(['catalogue']), ['gateway'])
  const { address } = await serve(catalogue.identity, undefined, recorder)
  const worker = caller(address, (await openTestIdentity(await authority.issue(['worker', 'gateway.example.org']))).identity)
  const auth = caller(address, (await openTestIdentity(await authority.issue(['auth']))).identity)
  for (const { ask } of [worker, worker, auth]) await expect(ask()).rejects.toThrow('PERMISSION_DENIED')
  const line = { address: expect.stringMatching(/^127[.]0[.]0[.]1:\d+$/), method: VideoServiceService.getVideo.path, calls: 1 }
  expect(lines).toEqual([
    { ...line, names: 'DNS:worker, DNS:gateway.example.org' },
    { ...line, names: 'DNS:auth' },
  ])
})

test('without a list, every caller with a certificate of the authority is accepted', async () => {
  const { address } = await serve((await openTestIdentity(await authority.issue(['catalogue']))).identity)
  const nameless = await openTestIdentity(await authority.issue([]))
  expect(await caller(address, nameless.identity).ask()).toEqual(GetVideoResponse.create())
})

test('plain text, a missing certificate, another authority, an expired certificate and an expired authority are rejected', async () => {
  const catalogue = await openTestIdentity(await authority.issue(['catalogue']))
  const { address } = await serve(catalogue.identity)
  const other = await createTestAuthority()
  const expired = await createTestAuthority('test authority', { toSeconds: -60 })
  const foreignFiles = [
    undefined,
    { ...(await other.issue(['gateway'])), 'ca.crt': authority.certificate },
    await authority.issue(['gateway'], { toSeconds: -60 }),
    { ...(await expired.issue(['gateway'])), 'ca.crt': authority.certificate },
  ]
  for (const files of foreignFiles) {
    const foreignIdentity = files && (await openTestIdentity(files))
    await expect(caller(address, foreignIdentity?.identity).ask()).rejects.toMatchObject(AWAY)
  }
  const anonymous = new GrpcClient(address, credentials.createSsl(Buffer.from(authority.certificate)), {
    'grpc.ssl_target_name_override': 'catalogue',
  })
  expect((await plainCall(anonymous, VideoServiceService.getVideo.path)).code).toBe(status.UNAVAILABLE)
  const gateway = await openTestIdentity(await authority.issue(['gateway']))
  expect(await caller(address, gateway.identity).ask()).toEqual(GetVideoResponse.create())
})

test('a service with another name, no certificate or another authority receives no data', async () => {
  const gateway = await openTestIdentity(await authority.issue(['gateway']))
  const other = await createTestAuthority()
  const impostors = [
    await openTestIdentity(await authority.issue(['worker'])),
    await openTestIdentity({ ...(await other.issue(['catalogue'])), 'ca.crt': authority.certificate }),
    undefined,
  ]
  for (const impostor of impostors) {
    const { address } = await serve(impostor?.identity)
    await expect(caller(address, gateway.identity).ask()).rejects.toMatchObject(AWAY)
  }
})

test('certificates and the authority are replaced under calls, and no call fails', async () => {
  const before = { server: await authority.issue(['catalogue']), client: await authority.issue(['gateway']) }
  const catalogue = await openTestIdentity(before.server, ['gateway'])
  const gateway = await openTestIdentity(before.client)
  // Connections end all the time, so that each step meets many handshakes.
  const { address } = await serve(catalogue.identity, { connectionSeconds: 0.2 })
  const { write } = caller(address, gateway.identity)
  let answered = 0
  const failures: unknown[] = []
  const stop = new AbortController()
  const callers = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) {
      await write().then(
        () => answered++,
        (error: unknown) => failures.push(error),
      )
    }
  })
  const next = await createTestAuthority('the next authority')
  const both = `${authority.certificate}${next.certificate}`
  const after = { server: await next.issue(['catalogue']), client: await next.issue(['gateway']) }
  const steps: [(files: CertificateFiles) => Promise<void>, CertificateFiles, Metrics][] = [
    // New leaf certificates of the same authority, then trust in both authorities, then leaves of the new one, then
    // trust in the new one only.
    [catalogue.replace, await authority.issue(['catalogue']), catalogue.metrics],
    [catalogue.replace, { ...before.server, 'ca.crt': both }, catalogue.metrics],
    [gateway.replace, { ...before.client, 'ca.crt': both }, gateway.metrics],
    [catalogue.replace, { ...after.server, 'ca.crt': both }, catalogue.metrics],
    [gateway.replace, { ...after.client, 'ca.crt': both }, gateway.metrics],
    [catalogue.replace, after.server, catalogue.metrics],
    [gateway.replace, after.client, gateway.metrics],
  ]
  for (const [replace, files, metrics] of steps) {
    const taken = await figure(metrics, 'vitascope_tls_changes_total')
    await replace(files)
    await waitFor(async () => (await figure(metrics, 'vitascope_tls_changes_total')) > taken)
    const seen = answered
    await waitFor(() => answered > seen + 100 || failures.length > 0)
  }
  stop.abort()
  await Promise.all(callers)
  expect(failures).toEqual([])
  const late = await openTestIdentity({ ...before.client, 'ca.crt': both })
  await expect(caller(address, late.identity).ask()).rejects.toMatchObject(AWAY)
}, 60_000)

test('an incomplete, mismatched or expired certificate is reported once and not used, and the next valid one is used', async () => {
  const first = await authority.issue(['catalogue'])
  const { identity, folder, replace, metrics } = await openTestIdentity(first)
  const others = await authority.issue(['catalogue'])
  const countRejections = () => figure(metrics, 'vitascope_tls_rejected_changes_total')
  const bad: CertificateFiles[] = [
    { ...first, 'tls.crt': others['tls.crt'] },
    { ...first, 'tls.key': others['tls.key'].slice(0, 40) },
    { ...first, 'ca.crt': '' },
    await authority.issue(['catalogue'], { toSeconds: -60 }),
    await authority.issue(['catalogue'], { fromSeconds: 600 }),
  ]
  for (const [index, files] of bad.entries()) {
    await replace(files)
    await waitFor(async () => (await countRejections()) === index + 1)
    expect(identity.current().cert.toString()).toBe(first['tls.crt'])
  }
  await rm(join(folder, 'tls.key'))
  await waitFor(async () => (await countRejections()) === bad.length + 1)
  await writeFile(join(folder, 'good.key'), others['tls.key'])
  await rename(join(folder, 'good.key'), join(folder, 'tls.key'))
  // The key is replaced, but the certificate still belongs to another key.
  await waitFor(async () => (await countRejections()) === bad.length + 2)
  await replace(others)
  await waitFor(() => identity.current().cert.toString() === others['tls.crt'])
  expect([await countRejections(), await figure(metrics, 'vitascope_tls_changes_total')]).toEqual([bad.length + 2, 1])
})

test('an expiring certificate is reported with its expiry time, and a start without a valid one is rejected', async () => {
  const ended = await openTestIdentity(await authority.issue(['catalogue'], { toSeconds: -60 }))
  expect(await figure(ended.metrics, 'vitascope_tls_not_after_timestamp_seconds')).toBeLessThan(Date.now() / 1_000)
  const { folder } = await certificateFolder({ 'tls.crt': 'nothing', 'tls.key': '', 'ca.crt': '' })
  undo.push(() => rm(folder, { recursive: true }))
  expect(() => openIdentity({ folder, callers: [] }, { log, metrics: createMetrics('test') })).toThrow('VITASCOPE_TLS_DIR')
})

test('only the health check is served in plain text', async () => {
  const catalogue = await openTestIdentity(await authority.issue(['catalogue']), ['gateway'])
  const { server } = await serve(catalogue.identity, { healthListen: '127.0.0.1:0' })
  const probe = new GrpcClient(server.healthAddress() ?? '', credentials.createInsecure())
  const health = async () => (await plainCall(probe, '/grpc.health.v1.Health/Check')).answer
  expect(await health()).toEqual(Buffer.from([0x08, 1]))
  expect((await plainCall(probe, VideoServiceService.getVideo.path)).code).toBe(status.UNIMPLEMENTED)
  server.setServing(false)
  expect([await health(), server.isServing()]).toEqual([Buffer.from([0x08, 2]), false])
})

function plainCall(client: GrpcClient, path: string): Promise<{ code: status; answer?: Buffer | undefined }> {
  undo.push(() => client.close())
  const asIs = (bytes: Buffer) => bytes
  return new Promise((resolve) =>
    client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), (error: ServiceError | null, answer) =>
      resolve({ code: error?.code ?? status.OK, answer }),
    ),
  )
}
