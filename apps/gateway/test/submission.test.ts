import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { parseAddressRules } from '@vitascope/security'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { submitContactForm } from '../src/api/contact-form/submission-routes.ts'
import { startTestGateway } from './started-gateway.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>

let catalogue: GrpcServer
let limited: Gateway
let unlimited: Gateway
let stored = 0
beforeAll(async () => {
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('catalogue') })
  catalogue.implement(
    { submitContactForm: ContactFormServiceService.submitContactForm },
    {
      async submitContactForm({ validateOnly }) {
        if (!validateOnly) stored++
        return { submissionId: '1' }
      },
    },
  )
  catalogue.implement({ appendEntries: AuditServiceService.appendEntries }, { appendEntries: async () => ({}) })
  const catalogueAddress = await catalogue.listen('127.0.0.1:0')
  const config = { catalogueAddress, authAddress: catalogueAddress, trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [] }
  limited = await startTestGateway([submitContactForm], { ...config, limits: DEFAULT_LIMITS })
  unlimited = await startTestGateway([submitContactForm], { ...config, limits: 'off' })
})
afterAll(async () => {
  await Promise.all([limited.stop(), unlimited.stop()])
  await catalogue.drain(0)
})

const send = (gateway: Gateway, form: string, address: string, sent: object = { email: 'ada@example.org' }) =>
  fetch(`${gateway.url}/v2/contact-form/${form}/submission`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(sent),
  })

test('one address can send 10 submissions per minute to a form, without counting invalid ones', async () => {
  for (let i = 0; i < 5; i++) expect((await send(limited, '7', '203.0.113.1', { email: 1 })).status).toBe(400)
  const statuses = []
  for (let i = 0; i < 12; i++) statuses.push((await send(limited, '7', '203.0.113.1')).status)
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
  expect(stored).toBe(10)
  const rejected = await send(limited, '7', '203.0.113.1')
  expect(rejected.headers.get('ratelimit-policy')).toBe('"submission";q=10;w=60')
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await send(limited, '8', '203.0.113.1')).status).toBe(201)
  expect((await send(limited, '7', '203.0.113.2')).status).toBe(201)
})

test('submissions are not limited if limits are off', async () => {
  for (let i = 0; i < 15; i++) expect((await send(unlimited, '7', '203.0.113.1')).status).toBe(201)
})
