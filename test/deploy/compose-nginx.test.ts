import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'

interface Service {
  image?: string
  user?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  networks?: string[]
  ports?: string[]
  volumes?: string[]
  environment?: Record<string, string>
  depends_on?: object
  healthcheck?: { test: string[] }
}
interface Compose {
  services: Record<string, Service>
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>
}

const folder = join(import.meta.dirname, '../../deploy')
const readCompose = (name: string) => parse(readFileSync(join(folder, name), 'utf8'), { merge: true }) as Compose
const { services, networks } = readCompose('compose.yaml')
const override = readCompose('compose.nginx.yaml').services

test('the configuration of nginx names the services and ports of compose', () => {
  const config = readFileSync(join(folder, 'nginx/bucket.conf'), 'utf8')
  const [, delivery] = /upstream delivery \{\s+server ([\w:]+);/.exec(config) ?? []
  const [, bucket] = /upstream bucket \{\s+server ([\w:]+);/.exec(config) ?? []
  const port = override['delivery']?.environment?.['VITASCOPE_DELIVERY_PUBLIC_LISTEN']?.split(':')[1]
  expect(delivery).toBe(`delivery:${port}`)
  expect(`http://${bucket}`).toBe(services['delivery']?.environment?.['VITASCOPE_S3_ENDPOINT'])
  expect(config).toContain(`proxy_set_header Host ${bucket};`)
  expect(config).toContain(`location ${override['delivery']?.environment?.['VITASCOPE_DELIVERY_ACCEL_PATH']} {`)
  for (const mount of override['nginx']?.volumes ?? []) {
    const [source = ''] = mount.split(':')
    if (source.startsWith('./')) expect([source, existsSync(join(folder, source))]).toEqual([source, true])
  }
})

test('nginx has no rights, and only it reaches the public address of delivery', () => {
  expect(override['nginx']).toMatchObject({ user: '101:101', read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  expect([services['delivery']?.ports, override['delivery']?.ports]).toEqual([undefined, undefined])
  expect(override['nginx']?.networks).toEqual(['inside', 'outside'])
})

test('the address of a viewer passes the proxy of the host, nginx and delivery', () => {
  const subnet = (name: string) => networks[name]?.ipam.config[0]?.subnet
  expect(override['delivery']?.environment?.['VITASCOPE_TRUST_PROXY']).toBe(subnet('inside'))
  const host = subnet('outside')?.replace(/0\/24$/, '1')
  expect(readFileSync(join(folder, 'nginx/compose-proxy.conf'), 'utf8')).toContain(`set_real_ip_from ${host};`)
})

test('the gateway sends viewers to the port of nginx', () => {
  const port = /:(\d+):8080\}?$/.exec(override['nginx']?.ports?.[0]?.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1') ?? '')?.[1]
  expect(override['gateway']?.environment?.['VITASCOPE_DELIVERY_PUBLIC_URL']).toContain(`localhost:${port}`)
})

test('nginx starts again after delivery, whose address it resolves at its start only', () => {
  expect(override['nginx']?.depends_on).toEqual({ delivery: { condition: 'service_healthy', restart: true } })
  expect(override['nginx']?.healthcheck?.test.at(-1)).toBe('http://127.0.0.1:8080/healthz')
})
