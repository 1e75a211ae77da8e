import type { AddressInfo, Socket } from 'node:net'
import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type CertificateFiles, createTestAuthority, type TestAuthority } from '@vitascope/testing/certificates'
import { createPlatformServer, type HttpService, httpService, type Identity, platformRequest } from '../src/index.ts'
import { openTestIdentity, undo } from './open-test-identity.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await createTestAuthority()
})

/** Connections that the servers accepted. */
const accepted = new Set<Socket>()

async function serve(identity: Identity | undefined): Promise<string> {
  const server = createPlatformServer(identity, { keepAliveTimeout: 30_000 }, (_request, response) => response.end('heard'))
  server.on('secureConnection', (socket: Socket) => accepted.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `${identity ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns the response body, or `rejected`. */
function call(service: HttpService): Promise<string> {
  return new Promise((resolve) => {
    const request = platformRequest(service, '/', {}, (result) => {
      let text = ''
      result.on('data', (part: Buffer) => (text += part)).on('end', () => resolve(text))
      result.on('error', () => resolve('rejected'))
    })
    request.on('error', () => resolve('rejected'))
    request.end()
  })
}

test('serves plain HTTP if there are no certificates', async () => {
  expect(await call(httpService(await serve(undefined), undefined))).toBe('heard')
})

test('accepts callers that are listed, and rejects other callers, plain text and other authorities', async () => {
  const origin = await serve((await openTestIdentity(await authority.issue(['delivery']), ['gateway'])).identity)
  const other = await createTestAuthority()
  const foreignIdentity = { ...(await other.issue(['gateway'])), 'ca.crt': authority.certificate }
  const to = async (files: CertificateFiles, service = 'delivery') =>
    call(httpService(origin, (await openTestIdentity(files)).identity.peer(service)))
  expect(await to(await authority.issue(['gateway']))).toBe('heard')
  expect(await to(await authority.issue(['worker']))).toBe('rejected')
  expect(await to(foreignIdentity)).toBe('rejected')
  expect(await to(await authority.issue(['gateway'], { toSeconds: -60 }))).toBe('rejected')
  expect(await to(await authority.issue(['gateway']), 'encoding')).toBe('rejected')
  expect(await call(httpService(origin.replace('https', 'http'), undefined))).toBe('rejected')
})

test('client and server switch to a new authority between two requests', async () => {
  const delivery = await openTestIdentity(await authority.issue(['delivery']), ['gateway'])
  const gateway = await openTestIdentity(await authority.issue(['gateway']))
  const service = httpService(await serve(delivery.identity), gateway.identity.peer('delivery'))
  expect(await call(service)).toBe('heard')
  const next = await createTestAuthority('the next authority')
  await delivery.replace(await next.issue(['delivery']))
  await waitFor(async () => (await call(service)) === 'rejected')
  await gateway.replace(await next.issue(['gateway']))
  await waitFor(async () => (await call(service)) === 'heard')
})

test('with keepAlive, requests share a connection until the certificates change', async () => {
  const delivery = await openTestIdentity(await authority.issue(['delivery']), ['gateway'])
  const gateway = await openTestIdentity(await authority.issue(['gateway']))
  const service = httpService(await serve(delivery.identity), gateway.identity.peer('delivery'), { keepAlive: true })
  accepted.clear()
  for (let sent = 0; sent < 5; sent++) expect(await call(service)).toBe('heard')
  expect(accepted.size).toBe(1)

  const [first] = accepted
  await gateway.replace(await authority.issue(['gateway']))
  await waitFor(() => first?.destroyed)
  for (let sent = 0; sent < 2; sent++) expect(await call(service)).toBe('heard')
  expect(accepted.size).toBe(2)
})

test('without keepAlive, each request has its own connection', async () => {
  const delivery = await openTestIdentity(await authority.issue(['delivery']), ['gateway'])
  const gateway = await openTestIdentity(await authority.issue(['gateway']))
  const service = httpService(await serve(delivery.identity), gateway.identity.peer('delivery'))
  accepted.clear()
  for (let sent = 0; sent < 3; sent++) expect(await call(service)).toBe('heard')
  expect(accepted.size).toBe(3)
})
