import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { type Call, createGrpcServer, type GrpcServer, type Handlers } from '@vitascope/grpc'
import { Organisation, OrganisationServiceService, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import {
  type ListPublicVideosRequest,
  ListPublicVideosResponse,
  PublicVideoServiceService,
} from '@vitascope/proto/catalogue/v1/public_video'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { hostileTexts } from './hostile-texts.ts'
import { startTestGateway } from './started-gateway.ts'

const ORGANISATIONS: Readonly<Record<string, Partial<Organisation>>> = {
  '2': { publicPage: true },
  '3': { publicPage: false },
  '4': { publicPage: true, status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE },
}

let services: GrpcServer
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let limited: Awaited<ReturnType<typeof startTestGateway>>
let requests: ListPublicVideosRequest[]
let found: Partial<ListPublicVideosResponse>
let name: string
let failure: Error | undefined

beforeAll(async () => {
  services = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('organisation-page-test') })
  const organisations = {
    async getOrganisation({ organisationId }: { organisationId: string }, { principal }: Call) {
      if (principal.kind !== 'service') throw new Error('the caller is not the gateway')
      const known = ORGANISATIONS[organisationId]
      if (!known) throw notFound('organisation', organisationId)
      return {
        organisation: Organisation.fromPartial({ organisationId, name, status: OrganisationStatus.ORGANISATION_STATUS_ACTIVE, ...known }),
      }
    },
  }
  services.implement(OrganisationServiceService, organisations as unknown as Handlers<typeof OrganisationServiceService>)
  services.implement(PublicVideoServiceService, {
    async listPublicVideos(request) {
      requests.push(request)
      if (failure) throw failure
      return ListPublicVideosResponse.fromPartial(found)
    },
  })
  const address = await services.listen('127.0.0.1:0')
  const config = { authAddress: address, catalogueAddress: address, publicUrl: 'https://video.example.org' }
  gateway = await startTestGateway([], config)
  limited = await startTestGateway([], { ...config, limits: { ...DEFAULT_LIMITS, unknown: 1, burst: 2 } })
  reset()
  for (const { url } of [gateway, limited])
    await waitFor(async () => (await read('/o/2', url)).status === 200, { timeout: 20_000, describe: 'the gateway to reach its services' })
}, 60_000)
afterAll(async () => {
  await gateway?.stop()
  await limited?.stop()
  await services?.drain(100)
})
beforeEach(reset)

function reset(): void {
  requests = []
  found = {}
  name = 'Films'
  failure = undefined
}

async function read(path: string, url = gateway.url) {
  const response = await fetch(`${url}${path}`)
  return { status: response.status, headers: response.headers, html: await response.text() }
}

test('the page has the pictures, titles and durations of the videos, and the address of the next page', async () => {
  found = {
    videos: [
      { videoId: '42', title: 'Launch', durationSeconds: 3_725.4, deliveryVersion: 'v1', thumbnailPath: 'thumbnail.jpg' },
      { videoId: '43', title: '', durationSeconds: undefined, deliveryVersion: 'v2', thumbnailPath: '' },
    ],
    nextPageToken: 'a+b/c=',
  }
  const { status, headers, html } = await read('/o/2?q=%20rocket+launch%20&cursor=x&q=other')
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'private, no-cache',
  ])
  expect(requests).toEqual([{ organisationId: '2', pageSize: 24, pageToken: 'x', query: 'rocket launch', address: '127.0.0.1' }])
  expect(html).toContain('<a href="/player/42"><span class="name">Launch</span>')
  expect(html).toContain('<img src="https://video.example.org/delivery/42/v1/thumbnail.jpg" alt=""')
  expect(html).toContain('</span>1:02:05</span>')
  expect(html).toContain('<a href="/player/43"><span class="name">Untitled video</span><span class="still"></span></a>')
  expect(html).toContain('href="/o/2?q=rocket+launch&amp;cursor=a%2Bb%2Fc%3D"')
  expect(html).toContain('<a class="button" href="/o/2?q=rocket+launch">First page</a>')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; style-src '\S+' '\S+'; img-src data: 'self' https:\/\/video[.]example[.]org; /)
  expect(policy).toContain(`form-action 'self'`)
})

test.each([...hostileTexts])('the hostile text %p stays text in a title, in the name and in the search', async (text) => {
  found = { videos: [{ videoId: '42', title: text, durationSeconds: 1, deliveryVersion: 'v1', thumbnailPath: 'thumbnail.jpg' }] }
  name = text
  const { status, html } = await read(`/o/2?q=${encodeURIComponent(text)}`)
  // A text that is not well-formed is rejected.
  if (status === 400) return
  expect(status).toBe(200)
  name = 'Films'
  found = { videos: [{ videoId: '42', title: 'Launch', durationSeconds: 1, deliveryVersion: 'v1', thumbnailPath: 'thumbnail.jpg' }] }
  const { html: harmless } = await read('/o/2?q=rocket')
  const tags = (markup: string) => markup.match(/<[a-z!/][^>]*>/gi)?.map((tag) => tag.replace(/(value|href)="[^"]*"/g, '$1')) ?? []
  expect(tags(html)).toEqual(tags(harmless))
})

test('there is no page for an unknown organisation, one without the setting, and an inactive one', async () => {
  const bodies = []
  for (const id of ['3', '4', '999', 'x', '0']) {
    const { status, html } = await read(`/o/${id}`)
    expect(status).toBe(404)
    bodies.push({ ...JSON.parse(html), request_id: '' })
  }
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  expect(requests).toEqual([])
  expect((await read('/o')).status).toBe(404)
})

test('an address that requests many unknown organisations is limited', async () => {
  const statuses = []
  for (let nth = 0; nth < 4; nth++) statuses.push((await read(`/o/${900 + nth}`, limited.url)).status)
  expect([statuses[0], statuses.at(-1)]).toEqual([404, 429])
})

test('a failure of the catalogue and a wrong cursor are errors', async () => {
  failure = new DomainError('unavailable', 'OVERLOADED', 'try again')
  expect((await read('/o/2')).status).toBe(503)
  failure = new DomainError('invalid', 'INVALID_INPUT', 'wrong token')
  expect((await read('/o/2?cursor=x')).status).toBe(400)
  expect((await read('/o/2?q=%ff')).status).toBe(400)
})

test('the page is German for a German browser, and has no body for HEAD', async () => {
  const response = await fetch(`${gateway.url}/o/2`, { headers: { 'accept-language': 'de' } })
  expect(await response.text()).toContain('Es gibt noch keine öffentlichen Videos.')
  expect(response.headers.get('vary')).toContain('Accept-Language')
  const head = await fetch(`${gateway.url}/o/2`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(`${gateway.url}/o/2`, { method: 'POST' })).status).toBe(405)
})
