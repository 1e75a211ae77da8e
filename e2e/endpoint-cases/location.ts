import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { runCommand } from '../support/command.ts'
import type { Fixture, NounRows, RejectedCall, Row } from '../support/table-row.ts'

interface PlacedVideo {
  video_id: string
}

const lookUp = (postcode: string) => `/location/lookup/${encodeURIComponent(postcode)}`
const name = (prefix: string) => `${prefix} ${Math.random().toString(36).slice(2)}`

/** Imports a file into the platform's database as an operator does. */
async function importPostcodes({ platform }: Fixture, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-postcodes-'))
  try {
    await writeFile(join(folder, 'places.txt'), content)
    const { stdout, stderr } = await runCommand('import-postcodes', [join(folder, 'places.txt')], { VITASCOPE_DATA_DIR: platform.dataDir })
    return stdout + stderr
  } finally {
    await rm(folder, { recursive: true })
  }
}

const buildVideosRow = (part: 'country' | 'city'): Pick<Row, 'works' | 'rejectedCalls'> => ({
  async works({ clients, owner, video }) {
    const value = name('Île-de-Modèle / 1')
    const location = { country: 'NL', city: 'Delft', [part]: value, postcode: '2611', latitude: 52.01 }
    const videos = [await video({ name: 'First' }), await video({ name: 'Second' })]
    for (const { video_id } of videos) await clients.owner.patch(`/video/${video_id}`, { location })
    await clients.owner.patch(`/video/${videos[1]?.video_id}`, { enabled: 0 })
    const path = `/location/videos/${part}/${encodeURIComponent(value.toUpperCase())}`
    const { status, body } = await clients.uploader.get<PlacedVideo[]>(path)
    const shown = { ...location, latitude: '52.01', longitude: '' }
    const titles = ['First', 'Second']
    expect([status, body]).toEqual([200, videos.map(({ video_id }, index) => ({ video_id, title: titles[index], location: shown }))])
    expect((await clients.system.get(`${path}?organisation_id=${owner.organisationId}`)).body).toEqual(body)
    expect((await clients.otherTenant.get(path)).body).toEqual([])
    const page = await clients.owner.get(`${path}?limit=1`)
    expect(page.body).toEqual([body[0]])
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
    expect((await clients.owner.get(next.slice(next.indexOf('/location')))).body).toEqual([body[1]])
    expect((await clients.owner.get(`/location/videos/${part}/${encodeURIComponent(name('nowhere'))}`)).body).toEqual([])
  },
  async rejectedCalls({ otherTenant }): Promise<RejectedCall[]> {
    const call = { method: 'GET', path: `/location/videos/${part}/NL` }
    return [
      { ...call, caller: 'guest', status: 401 },
      { ...call, path: `${call.path}?organisation_id=${otherTenant.organisationId}`, status: 403 },
      { ...call, path: `${call.path}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
      { ...call, caller: 'system', status: 400, fields: ['organisation_id'] },
      { ...call, caller: 'system', path: `${call.path}?organisation_id=999999`, status: 404 },
    ]
  },
})

export const locationRows: NounRows = {
  noun: 'location',
  rows: [
    {
      endpoint: 'GET /location/lookup/{postcode}',
      async works(fixture) {
        const { clients } = fixture
        const find = async (postcode: string, query = '') => (await clients.uploader.get(lookUp(postcode) + query)).body
        const amsterdam = { postcode: '1012', country: 'NL', latitude: '52.37', longitude: '4.89' }
        for (const written of ['1012', ' 10 12', '1012-ab', '1012 AB']) expect(await find(written)).toEqual(amsterdam)
        expect(await find('sw1a 1aa')).toEqual({ postcode: 'SW1A', country: 'GB', latitude: '51.5', longitude: '-0.13' })
        expect(await find('90210-1234')).toMatchObject({ postcode: '90210', country: 'US' })
        expect(await find('33602')).toMatchObject({ country: 'DE', latitude: '52.02' })
        expect(await find('33602', '?country=us')).toMatchObject({ country: 'US', latitude: '27.95' })
        expect((await clients.system.get(lookUp('75001'))).body).toEqual({
          postcode: '75001',
          country: 'FR',
          latitude: '48.86',
          longitude: '2.34',
        })
        const line = ['ZZ', '1012', 'Place', '', '', '', '', '', '', '-1.25', '2.5', '6'].join('\t')
        expect(await importPostcodes(fixture, `${line}\nbad\n`)).toBe('line 2 has 1 columns, not 12\nnothing was imported\n')
        expect(await importPostcodes(fixture, `${line}\n`)).toMatch(/^1 postcodes of ZZ from 1 lines/)
        expect(await find('1012', '?country=ZZ')).toEqual({ postcode: '1012', country: 'ZZ', latitude: '-1.25', longitude: '2.5' })
      },
      rejectedCalls: async () => [
        ...['00000', '1012 AB 1', 'x'.repeat(400), '-', `1' or '1'='1`, '1012%'].map((postcode) => ({
          ...{ method: 'GET', path: lookUp(postcode), status: 404, code: 'postcode_not_found' },
        })),
        { method: 'GET', path: `${lookUp('1012')}?country=FR`, status: 404, code: 'postcode_not_found' },
        { method: 'GET', path: `${lookUp('1012 AB')}?country=GB`, status: 404 },
        ...['N', 'NLD', '12', ''].map((country) => ({
          ...{ method: 'GET', path: `${lookUp('1012')}?country=${country}`, status: 400, fields: ['country'] },
        })),
        { caller: 'guest', method: 'GET', path: lookUp('1012'), status: 401 },
      ],
    },
    { endpoint: 'GET /location/videos/country/{country}', ...buildVideosRow('country') },
    { endpoint: 'GET /location/videos/city/{city}', ...buildVideosRow('city') },
  ],
  samples: { payloads: {}, make: async () => ({ postcode: '1012', country: 'NL', city: 'Amsterdam' }) },
}
