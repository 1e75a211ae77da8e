import { expect, test } from '@jest/globals'
import { type Reader, readEnvironment } from './read-environment.ts'
import { readGrpcServerSettings, readHttpOrigin, readTls } from './service.ts'

const reading =
  <T>(read: (read: Reader) => T) =>
  (env: Record<string, string>): T => {
    const reader = readEnvironment(env)
    const value = read(reader)
    reader.check()
    return value
  }

test('services use plain text unless a folder of certificates is configured', () => {
  const tls = reading(readTls)
  expect(tls({})).toBeUndefined()
  expect(tls({ VITASCOPE_TLS_DIR: '/tls' })).toEqual({ folder: '/tls', callers: [] })
  expect(tls({ VITASCOPE_TLS_DIR: '/tls', VITASCOPE_TLS_CALLERS: 'gateway, encoding' })).toEqual({
    folder: '/tls',
    callers: ['gateway', 'encoding'],
  })
  expect(() => tls({ VITASCOPE_TLS_CALLERS: 'gateway' })).toThrow('VITASCOPE_TLS_CALLERS requires VITASCOPE_TLS_DIR')
  expect(() => tls({ VITASCOPE_TLS_DIR: '/tls', VITASCOPE_TLS_CALLERS: '*' })).toThrow('VITASCOPE_TLS_CALLERS: "*"')
})

test('the health check has an address of its own only if one is configured', () => {
  const serve = reading((read) => readGrpcServerSettings(read, 'AUTH'))
  expect(serve({})).toEqual({ healthListen: undefined, connectionSeconds: 120, connectionGraceSeconds: 600, reflection: false })
  expect(serve({ VITASCOPE_GRPC_REFLECTION: '1' })).toMatchObject({ reflection: true })
  expect(serve({ VITASCOPE_AUTH_HEALTH_LISTEN: '0.0.0.0:9090' })).toMatchObject({ healthListen: '0.0.0.0:9090' })
  expect(() => serve({ VITASCOPE_AUTH_HEALTH_LISTEN: '9090' })).toThrow('VITASCOPE_AUTH_HEALTH_LISTEN must be HOST:PORT')
})

test('a service that is called over HTTP uses TLS if the other services do', () => {
  const origin = reading((read) => readHttpOrigin(read, 'VITASCOPE_DELIVERY_URL', 'Origin of delivery.'))
  expect(origin({ VITASCOPE_DELIVERY_URL: 'http://delivery:4000/' })).toBe('http://delivery:4000')
  expect(origin({ VITASCOPE_DELIVERY_URL: 'https://delivery:4000', VITASCOPE_TLS_DIR: '/tls' })).toBe('https://delivery:4000')
  expect(origin({ VITASCOPE_DELIVERY_URL: 'http://delivery:4000', VITASCOPE_TLS_DIR: '/tls' })).toBe('https://delivery:4000')
  expect(() => origin({ VITASCOPE_DELIVERY_URL: 'https://delivery:4000' })).toThrow(
    'VITASCOPE_DELIVERY_URL starts with https://, which requires VITASCOPE_TLS_DIR',
  )
  for (const url of ['http://delivery:4000/x', 'http://delivery:4000?x=1', 'http://user@delivery:4000'])
    expect(() => origin({ VITASCOPE_DELIVERY_URL: url })).toThrow('must be an origin, without a path, a query or a user')
  expect(() => origin({})).toThrow('VITASCOPE_DELIVERY_URL is missing')
})
