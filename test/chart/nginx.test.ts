import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { GetPlaybackPolicyResponse, PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { parseAddressRules, signVideoToken } from '@vitascope/security'
import { createMetrics } from '@vitascope/telemetry'
import { freePort, nginxPath, s3Path, startNginx, startNginxWithFiles, type TestNginx, testLog, testTokenKeys } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startDelivery } from '../../apps/delivery/src/service.ts'
import { startBucketDelivery } from '../../apps/delivery/test/bucket-delivery.ts'
import {
  type Container,
  describeChart,
  find,
  findPod,
  type Manifest,
  nginxFiles,
  readSettings,
  render,
  renderError,
} from './support/chart.ts'

/** Returns a configuration file of deploy/nginx. */
const readDeployed = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy/nginx', name), 'utf8')

/** Returns the trimmed lines of `text` that are not in `other`. */
function addedLines(text: string, other: string): string[] {
  const known = new Set(other.split('\n'))
  return text
    .split('\n')
    .filter((line) => !known.has(line))
    .map((line) => line.trim())
}

const findContainer = (manifests: readonly Manifest[], name: string): Container | undefined =>
  findPod(manifests, 'delivery').containers.find((one) => one.name === name)

describeChart('nginx in the pods of delivery', () => {
  test('is off by default', () => {
    const manifests = render(['production'])
    expect([nginxFiles(manifests).server, findContainer(manifests, 'nginx')]).toEqual(['', undefined])
  })

  test('has the public port of the pod, and is the only client of the public address of delivery', () => {
    const manifests = render(['nginx'])
    expect(findContainer(manifests, 'nginx')?.['ports']).toEqual([{ name: 'public', containerPort: 8082 }])
    expect(JSON.stringify(findContainer(manifests, 'delivery')?.['ports'])).not.toContain('8082')
    expect(readSettings(manifests, 'delivery')).toMatchObject({
      VITASCOPE_DELIVERY_PUBLIC_LISTEN: '127.0.0.1:8083',
      VITASCOPE_DELIVERY_ACCEL_PATH: '/objects/',
      VITASCOPE_TRUST_PROXY: '127.0.0.1',
    })
    expect(nginxFiles(manifests).server).toContain('set_real_ip_from 10.0.0.0/8;')
  })

  test('reads the objects from their volume, or from the bucket through a cache', () => {
    const mounts = (manifests: readonly Manifest[]) => JSON.stringify(findContainer(manifests, 'nginx')?.['volumeMounts'])
    expect(mounts(render(['nginx']))).toContain('"name":"objects","mountPath":"/var/lib/vitascope/objects","readOnly":true')
    const bucket = render(['production'], {
      delivery: { nginx: { enabled: true, cacheSize: '3Gi' } },
      storage: { s3: { redirect: false } },
    })
    expect(mounts(bucket)).toContain('"name":"nginx-cache","mountPath":"/var/cache/nginx"')
    const { server } = nginxFiles(bucket)
    expect(server).toContain('max_size=3g')
    // nginx does not verify the certificate of the bucket by default.
    expect(server).toContain('proxy_pass https://bucket;')
    expect(server).toContain('proxy_ssl_verify on;')
  })

  test('has the configuration of deploy/nginx for files, except for addresses', () => {
    expect(addedLines(nginxFiles(render(['nginx'])).server, readDeployed('files.conf'))).toEqual([
      'set_real_ip_from 10.0.0.0/8;',
      'real_ip_header X-Forwarded-For;',
      'real_ip_recursive on;',
      'server 127.0.0.1:8083;',
      'listen 8082;',
    ])
  })

  test('has the configuration of deploy/nginx for a bucket, except for addresses, TLS and the size of the cache', () => {
    expect(addedLines(nginxFiles(render(['nginx-bucket'])).server, readDeployed('bucket.conf'))).toEqual([
      'set_real_ip_from 192.0.2.0/24;',
      'real_ip_header X-Forwarded-For;',
      'real_ip_recursive on;',
      expect.stringContaining(' max_size=10g '),
      'server 127.0.0.1:8083;',
      'zone bucket 256k;',
      'include /tmp/resolver.conf;',
      'server objects.example.org:443 resolve;',
      'listen 8082;',
      'proxy_pass https://bucket;',
      'proxy_ssl_server_name on;',
      'proxy_ssl_name objects.example.org;',
      'proxy_ssl_verify on;',
      'proxy_ssl_verify_depth 5;',
      'proxy_ssl_trusted_certificate /tmp/authorities.crt;',
      'proxy_set_header Host objects.example.org;',
    ])
  })

  test.each([
    ['https://s3.example.com', true, 'videos.s3.example.com:443 resolve', 'videos.s3.example.com'],
    ['https://Objects.example.org:443', false, 'objects.example.org:443 resolve', 'objects.example.org'],
    ['http://objects.example.org:9000', false, 'objects.example.org:9000 resolve', 'objects.example.org:9000'],
    ['http://minio:9000', false, 'minio:9000', 'minio:9000'],
    ['http://minio.storage.svc', false, 'minio.storage.svc:80', 'minio.storage.svc'],
    ['http://minio.storage.svc.cluster.local:9000', false, 'minio.storage.svc.cluster.local:9000', 'minio.storage.svc.cluster.local:9000'],
    ['http://192.0.2.12:9000', false, '192.0.2.12:9000', '192.0.2.12:9000'],
    ['http://[2001:db8::12]', false, '[2001:db8::12]:80', '[2001:db8::12]'],
  ])('connects to the bucket at %s, and sends the signed host', (endpoint, virtualHost, address, host) => {
    const { server } = nginxFiles(render(['nginx-bucket'], { storage: { s3: { endpoint, virtualHost } } }))
    expect(server).toContain(`server ${address};`)
    expect(server).toContain(`proxy_set_header Host ${host};`)
  })

  test('trusts a private CA in addition to the public ones, for a bucket with TLS', () => {
    const readScript = (values: object) => findContainer(render(['nginx-bucket'], values), 'nginx')?.args[0] ?? ''
    expect(readScript({})).toContain('cat /etc/ssl/certs/ca-certificates.crt /etc/vitascope/authorities/ca.crt > /tmp/authorities.crt')
    expect(readScript({ authorities: { configMap: '' } })).toContain('cat /etc/ssl/certs/ca-certificates.crt > /tmp/authorities.crt')
    expect(readScript({ storage: { s3: { endpoint: 'http://minio:9000' } } })).not.toContain('authorities')
  })

  test('stops before delivery, which must still authorise its last requests', () => {
    const [delivery = 0, nginx = 0] = ['delivery', 'nginx'].map(
      (name) => findContainer(render(['nginx']), name)?.lifecycle?.preStop.sleep.seconds,
    )
    expect(delivery).toBeGreaterThan(nginx)
  })

  test('in an IPv6 cluster, listens on IPv6 and reaches delivery on its loopback', () => {
    const manifests = render(['nginx'], { listenHost: '[::]' })
    expect(nginxFiles(manifests).server).toContain('server [::1]:8083;')
    expect(nginxFiles(manifests).server).toContain('listen [::]:8082;')
    expect(readSettings(manifests, 'delivery')).toMatchObject({
      VITASCOPE_DELIVERY_PUBLIC_LISTEN: '[::1]:8083',
      VITASCOPE_TRUST_PROXY: '::1',
    })
  })

  test.each([
    [{ cacheSize: '12Gi' }, 'set `delivery.nginx.cacheLimit` to more than `delivery.nginx.cacheSize`, 12Gi'],
    [{ cacheLimit: '15Gi' }, 'set `delivery.nginx.resources.limits.ephemeral-storage` to more than `delivery.nginx.cacheLimit`, 15Gi'],
    [{ image: '' }, "at '/delivery/nginx/image'"],
  ])('is rejected with the values %j', (nginx, message) => {
    expect(renderError(['nginx-bucket'], { delivery: { nginx } })).toContain(message)
  })

  test('is replaced when its configuration changes', () => {
    const readVersion = (values: Record<string, unknown>) =>
      JSON.stringify(find(render(['nginx'], values), 'Deployment', 'delivery')?.spec).match(/nginx-version":"(\w+)"/)?.[1]
    expect(readVersion({})).toBe(readVersion({ delivery: { replicas: 5 } }))
    expect(readVersion({})).not.toBe(readVersion({ trustedProxies: ['10.1.0.0/16'] }))
  })

  test.each([
    [{ delivery: { direct: false } }, 'set `delivery.direct` to true'],
    [{ storage: { kind: 's3', s3: { redirect: true } } }, 'set `storage.s3.redirect` to false'],
  ])('is rejected with %j', (values, message) => {
    expect(renderError(['nginx'], values)).toContain(message)
  })
})

const describeWithNginx = nginxPath() === undefined ? describe.skip : describeChart

describeWithNginx('the rendered configuration in nginx', () => {
  const { tokenKeys, tokenKeysFile } = testTokenKeys()
  let root: string
  let catalogue: GrpcServer
  let delivery: Awaited<ReturnType<typeof startDelivery>>
  let nginx: TestNginx

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'objects-'))
    await mkdir(join(root, 'media'), { recursive: true })
    await writeFile(join(root, 'media/film.mp4'), 'film')
    catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('test') })
    const { getPlaybackPolicy } = PlaybackPolicyServiceService
    catalogue.implement(
      { getPlaybackPolicy },
      {
        getPlaybackPolicy: async ({ videoId }) =>
          GetPlaybackPolicyResponse.fromPartial({ sets: [{ version: 'v1', prefix: 'media' }], tokenRequired: videoId === '2' }),
      },
    )
    const publicPort = await freePort()
    const address = await catalogue.listen('127.0.0.1:0')
    delivery = await startDelivery(
      {
        ...{ listen: '127.0.0.1:0', metricsListen: '127.0.0.1:0', publicListen: `127.0.0.1:${publicPort}`, accelPath: '/objects/' },
        ...{ catalogueAddress: address, encodingAddress: address, principalKeys: testKeyFiles('delivery'), tokenKeysFile },
        ...{ objects: { folder: root }, s3Mode: 'proxy', storageReads: 8, cacheBytes: 0, limits: 'off', allowedCrawlers: [] },
        publicTrustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
        ...{ outageSeconds: 600, downloads: { perAddress: 100, total: 100 }, trustedProxies: [] },
      },
      testLog,
    )
    const { server } = nginxFiles(render(['nginx'], { trustedProxies: ['127.0.0.1'] }))
    nginx = await startNginx(({ port }) =>
      server
        .replace('listen 8082;', `listen 127.0.0.1:${port};`)
        .replace('server 127.0.0.1:8083;', `server 127.0.0.1:${publicPort};`)
        .replace('alias /var/lib/vitascope/objects/;', `alias ${root}/;`),
    )
  })
  afterAll(async () => {
    await nginx?.stop()
    await delivery?.stop()
    await catalogue?.drain()
    await rm(root, { recursive: true })
  })

  test('serves a file only if delivery admits the request', async () => {
    const load = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${nginx.url}${path}`, { headers })
      return [response.status, await response.text()]
    }
    expect(await load('/delivery/1/v1/film.mp4')).toEqual([200, 'film'])
    expect(await load('/delivery/1/v1/film.mp4', { range: 'bytes=1-2' })).toEqual([206, 'il'])
    expect((await load('/delivery/2/v1/film.mp4'))[0]).toBe(403)
    const grant = { videoId: '2', expires: new Date(Date.now() + 60_000), ip: '203.0.113.7' }
    const token = await signVideoToken(grant, tokenKeys)
    // The address of the viewer comes from the proxy in front of nginx.
    expect(await load(`/delivery/2/v1~${token}/film.mp4`, { 'x-forwarded-for': '203.0.113.7' })).toEqual([200, 'film'])
    expect((await load(`/delivery/2/v1~${token}/film.mp4`, { 'x-forwarded-for': '203.0.113.8' }))[0]).toBe(401)
    expect((await load('/objects/media/film.mp4'))[0]).toBe(404)
    const download = { path: 'film.mp4', name: 'Film ü.mp4' }
    const saved = await fetch(
      `${nginx.url}/delivery/1/v1~${await signVideoToken({ ...grant, videoId: '1', ip: '127.0.0.1', download }, tokenKeys)}/download/film.mp4`,
    )
    expect([saved.status, await saved.text(), saved.headers.get('content-disposition')]).toEqual([
      200,
      'film',
      expect.stringContaining("UTF-8''Film%20%C3%BC.mp4"),
    ])
  })
})

const describeBucket = nginxPath() === undefined || s3Path() === undefined ? describe.skip : describeChart

describeBucket('the rendered configuration for a bucket in nginx', () => {
  test('serves public files from the cache, and protected files only with a token', async () => {
    const bytes = Buffer.alloc(2_500_000, 'media')
    const sets = [{ version: 'v1', prefix: 'media/1/7-1' }]
    const publicListen = `127.0.0.1:${await freePort()}`
    const bucket = await startBucketDelivery({
      objects: { 'media/1/7-1/h264_100.mp4': bytes },
      policies: { '1': { sets }, '2': { sets, tokenRequired: true } },
      config: { publicListen, accelPath: '/objects/' },
    })
    const { main, server } = nginxFiles(render(['nginx-bucket'], { storage: { s3: { endpoint: bucket.store.endpoint } } }))
    const nginx = await startNginxWithFiles(({ port, folder }) => ({
      'nginx.conf': `daemon off;\n${main.replaceAll('/tmp/', `${folder}/`).replace('/etc/vitascope/nginx/', `${folder}/`)}`,
      'server.conf': server
        .replace('127.0.0.1:8083', publicListen)
        .replace('listen 8082', `listen 127.0.0.1:${port}`)
        .replace('/var/cache/nginx/', `${folder}/`),
    }))
    try {
      expect((await fetch(`${nginx.url}/healthz`)).status).toBe(204)
      for (const cache of ['MISS', 'HIT']) {
        const response = await fetch(`${nginx.url}/delivery/1/v1/h264_100.mp4`)
        expect([response.status, response.headers.get('x-cache')]).toEqual([200, cache])
        expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
      }
      expect((await fetch(`${nginx.url}/delivery/2/v1/h264_100.mp4`)).status).toBe(403)
      const token = await signVideoToken({ videoId: '2', expires: new Date(Date.now() + 60_000) }, bucket.tokenKeys)
      const allowed = await fetch(`${nginx.url}/delivery/2/v1~${token}/h264_100.mp4`, { headers: { range: 'bytes=1048570-1048589' } })
      expect([allowed.status, Buffer.from(await allowed.arrayBuffer()).equals(bytes.subarray(1_048_570, 1_048_590))]).toEqual([206, true])
    } finally {
      await nginx.stop()
      await bucket.stop()
    }
  }, 60_000)
})
