import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { GetPlaybackPolicyResponse, PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { makeTokenKeys, parseAddressRules, parseTokenKeys, signVideoToken } from '@vitascope/security'
import { createMetrics } from '@vitascope/telemetry'
import { freePort, nginxPath, startNginx, type TestNginx, testLog } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startDelivery } from '../../apps/delivery/src/service.ts'
import { describeChart, find, findPod, type Manifest, readSettings, render, renderError } from './support/chart.ts'

const findConfig = (manifests: readonly Manifest[]) => {
  const config = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-nginx'))
  return { main: config?.data?.['nginx.conf'] ?? '', server: config?.data?.['server.conf'] ?? '' }
}
const findContainer = (manifests: readonly Manifest[], name: string) =>
  findPod(manifests, 'delivery').containers.find((one) => one.name === name)

describeChart('nginx beside delivery', () => {
  test('is off by default', () => {
    const manifests = render(['production'])
    expect([findConfig(manifests).server, findContainer(manifests, 'nginx')]).toEqual(['', undefined])
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
    expect(findConfig(manifests).server).toContain('set_real_ip_from 10.0.0.0/8;')
  })

  test('reads the objects from their volume, or from the bucket through a cache', () => {
    const mounts = (manifests: readonly Manifest[]) => JSON.stringify(findContainer(manifests, 'nginx')?.['volumeMounts'])
    expect(mounts(render(['nginx']))).toContain('"name":"objects","mountPath":"/var/lib/vitascope/objects","readOnly":true')
    const bucket = render(['production'], {
      delivery: { nginx: { enabled: true, cacheSize: '3Gi' } },
      storage: { s3: { redirect: false } },
    })
    expect(mounts(bucket)).toContain('"name":"nginx-cache","mountPath":"/var/cache/nginx"')
    const { server } = findConfig(bucket)
    expect(server).toContain('max_size=3g')
    expect(server).toMatch(/upstream bucket \{\s+server [\w.-]+:\d+;/)
    expect(server.includes('proxy_pass https://bucket;')).toBe(server.includes('proxy_ssl_verify on;'))
  })

  test('is replaced when its configuration changes', () => {
    const version = (values: Record<string, unknown>) =>
      JSON.stringify(find(render(['nginx'], values), 'Deployment', 'delivery')?.spec).match(/nginx-version":"(\w+)"/)?.[1]
    expect(version({})).toBe(version({ delivery: { replicas: 5 } }))
    expect(version({})).not.toBe(version({ trustedProxies: ['10.1.0.0/16'] }))
  })

  test.each([
    [{ delivery: { direct: false } }, 'set `delivery.direct` to true'],
    [{ storage: { kind: 's3', s3: { redirect: true } } }, 'set `storage.s3.redirect` to false'],
  ])('is rejected with %j', (values, words) => {
    expect(renderError(['nginx'], values)).toContain(words)
  })
})

const describeWithNginx = nginxPath() === undefined ? describe.skip : describeChart

describeWithNginx('the rendered configuration in nginx', () => {
  const tokenKeys = parseTokenKeys(makeTokenKeys())
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
        ...{ catalogueAddress: address, encodingAddress: address, principalKeys: testKeyFiles('delivery'), tokenKeys },
        ...{ objects: { folder: root }, s3Mode: 'proxy', storageReads: 8, cacheBytes: 0, limits: 'off' },
        publicTrustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
        ...{ downloads: { perAddress: 100, total: 100 }, trustedProxies: [] },
      },
      testLog,
    )
    const { server } = findConfig(render(['nginx'], { trustedProxies: ['127.0.0.1'] }))
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

  test('sends a file that delivery admits, and no other', async () => {
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
