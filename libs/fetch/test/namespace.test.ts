// Faults: S1, S2
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { forbiddenHosts } from './forbidden-hosts.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('./namespace-run.ts', import.meta.url))

const addresses = ['93.184.216.34/32', '169.254.169.254/32', '10.1.2.3/32', 'fd00::1/128']
const prepare = [
  'ip link set lo up',
  ...addresses.map((address) => `ip addr add ${address} dev lo${address.includes(':') ? ' nodad' : ''}`),
].join(' && ')

const missing = await run('unshare', ['-rnm', 'sh', '-c', prepare]).then(
  () => undefined,
  () => 'needs unshare and ip, and the right to make namespaces',
)
const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
)

;(missing ? test.skip : test)(
  `in its own network namespace, the client with production settings reaches only the public address${missing ? ` (${missing})` : ''}`,
  async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'vitascope-namespace-'))
    try {
      await writeFile(join(scratch, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n')
      if (hasOpenssl) await makeCertificate(scratch)
      const command = `${prepare} && mount --bind "$1/resolv.conf" /etc/resolv.conf && exec "$2" "$3" "$1"`
      const env = { PATH: process.env['PATH'] ?? '', ...(hasOpenssl ? { NODE_EXTRA_CA_CERTS: join(scratch, 'cert.pem') } : {}) }
      const { stdout } = await run('unshare', ['-rnm', 'sh', '-c', command, 'sh', scratch, process.execPath, script], { env })
      expect(JSON.parse(stdout)).toEqual({
        canaryHits: 10,
        publicByAddress: 'public',
        publicByName: 'public',
        ...(hasOpenssl ? { secure: ['public', '4001', '4001'] } : {}),
        spellings: { 4004: 2 * forbiddenHosts.length },
        names: ['4004', '4004', '4004', '4004'],
        redirects: { 4004: 90 },
        flips: { public: 100, 4004: 100 },
        resume: '4004',
        unansweredLookups: { alive: 'public', stillWaiting: 50, dead: { 4001: 50 } },
        hits: 0,
      })
    } finally {
      await rm(scratch, { recursive: true })
    }
  },
)

async function makeCertificate(folder: string): Promise<void> {
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=public.test',
  ]
  const files = ['-addext', 'subjectAltName=DNS:public.test', '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  await run('openssl', [...request, ...files])
}
