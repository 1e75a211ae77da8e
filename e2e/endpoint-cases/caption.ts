import { createRequire } from 'node:module'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { type UploadResponse, upload, type VideoRecord } from '../support/video-steps.ts'

interface Line extends Record<string, string> {
  caption_id: string
  caption_line_id: string
  time_code_begin: string
  caption_text: string
}
interface VttParser {
  parse(text: string, mode: string): { cues: { startTime: number; endTime: number; text: string }[]; errors: unknown[] }
}
const { WebVTTParser } = createRequire(import.meta.url)('webvtt-parser') as { WebVTTParser: new () => VttParser }

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 23).replace('.', ',')
const srt = (texts: readonly string[]) =>
  texts.map((text, i) => `${i + 1}\n${clock(i * 2_000 + 500)} --> ${clock(i * 2_000 + 1_750)}\n${text}\n\n`).join('')
const SRT = srt(['Good <i>evening</i>', 'a --> b & <script>alert(1)</script>\n“two”'])
const FIELDS = { title: 'English', language: 'en' }
const buildText = (length: number) => 'x'.repeat(length)

const create = async ({ clients }: Fixture, media_id: string, fields: Record<string, unknown> = { content: SRT, format: 'srt' }) => {
  const { status, body } = await clients.uploader.post<Line[]>('/caption', { ...FIELDS, media_id, ...fields })
  if (status !== 200) throw new Error(`the captions returned ${status}: ${JSON.stringify(body)}`)
  return body
}
const getId = (lines: readonly Line[]) => lines[0]?.caption_id ?? ''
const createCaption = async (fixture: Fixture) => {
  const { media_id, video_id } = await fixture.video()
  return { media_id, video_id, caption_id: getId(await create(fixture, media_id)) }
}
const shown = async ({ clients }: Fixture, videoId: string) =>
  (await clients.guest.get<VideoRecord & { captions: { data: unknown[] } }>(`/video/${videoId}`)).body.captions.data
const getTexts = (lines: readonly Line[]) => lines.map(({ caption_text }) => caption_text)
const foreignMedia = async ({ clients, otherTenant, sources }: Fixture) => {
  const { id }: UploadResponse = await upload(clients.otherTenant, otherTenant.organisationId, `${sources.url}/none.mp4`)
  return (await clients.otherTenant.get<VideoRecord>(`/video/${id}`)).body.media_id
}

/** Serves caption files from the source server. */
function serve({ sources }: Fixture): string {
  const files: Record<string, string | Buffer> = {
    '/a.srt': SRT,
    '/a.sbv': '0:00:00.500,0:00:01.750\nGood evening\n',
    '/a.sub': '{1}{1}25\n{25}{50}Good evening\n',
    '/b.sub': '00:00:00.50,00:00:01.75\nGood[br]evening\n',
    '/a.vtt': 'WEBVTT\n\n100:00.000 --> 100:01.000\nGood &amp; evening\n',
    '/latin.srt': Buffer.from(srt(['Grüß Gott']), 'latin1'),
    '/wide.srt': Buffer.from(`\ufeff${srt(['Grüß Gott'])}`, 'utf16le').swap16(),
    '/page.srt': '<!doctype html>',
    '/large.srt': Buffer.alloc(5 * 2 ** 20 + 1, 'x'),
    '/most.srt': srt(Array(20_000).fill('x')),
    '/toomany.srt': srt(Array(20_001).fill('x')),
  }
  for (const [path, file] of Object.entries(files)) sources.setHandler(path, (_, response) => response.end(file))
  sources.setHandler('/inside.srt', (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/a.srt' }).end())
  return sources.url
}

/** Returns the invalid calls that POST and PUT have in common. */
async function rejectedFieldCalls(fixture: Fixture, method: string, path: string, rest: Record<string, unknown>): Promise<RejectedCall[]> {
  const url = serve(fixture)
  const buildRejectedCall = (payload: Record<string, unknown>, fields: string[]): RejectedCall => ({
    method,
    path,
    payload: { ...rest, ...payload },
    status: 400,
    fields,
  })
  const tooLarge = (name: string): RejectedCall => ({
    method,
    path,
    payload: { ...rest, url: `${url}/${name}` },
    status: 413,
    code: 'caption_too_large',
  })
  const content = { content: SRT, format: 'srt' }
  return [
    buildRejectedCall({ ...content, title: buildText(256), language: 'not a code' }, ['title', 'language']),
    buildRejectedCall({ ...content, title: ' ' }, ['title']),
    buildRejectedCall({ ...content, title: 'two\nlines' }, ['title']),
    buildRejectedCall({ ...content, organisation_id: '1', created_by_user_id: '1' }, ['organisation_id', 'created_by_user_id']),
    buildRejectedCall({ url: `${url}/a.srt`, ...content }, ['content']),
    buildRejectedCall({ content: SRT }, ['format']),
    buildRejectedCall({ content: SRT, title: '' }, ['title', 'format']),
    buildRejectedCall({ url: `${url}/a.txt`, title: 'two\nlines', language: '!!' }, ['title', 'language', 'url']),
    buildRejectedCall({ url: 'http://10.0.0.1/a.srt', title: '' }, ['title', 'url']),
    buildRejectedCall({ content: SRT, format: 'ass' }, ['format']),
    buildRejectedCall({ content: 'a\0b', format: 'srt' }, ['content']),
    buildRejectedCall({ content: 'nothing', format: 'srt' }, ['content']),
    buildRejectedCall({ url: `${url}/a.srt`, format: 'srt' }, ['format']),
    ...['a.ass', 'none.srt', 'page.srt', 'inside.srt'].map((name) => buildRejectedCall({ url: `${url}/${name}` }, ['url'])),
    ...[
      'http://10.0.0.1/a.srt',
      'http://[::1]/a.srt',
      'file:///etc/a.srt',
      'http://127.0.0.1:22/a.srt',
      'http://u:p@example.org/a.srt',
    ].map((address) => buildRejectedCall({ url: address }, ['url'])),
    ...['large.srt', 'toomany.srt'].map(tooLarge),
    { method, path, payload: { ...rest, content: srt([buildText(10_001)]), format: 'srt' }, status: 413, code: 'caption_too_large' },
  ]
}

const readable: NounRows['rows'][number]['works'] = async (fixture) => {
  const { media_id, caption_id } = await createCaption(fixture)
  const { clients, uploader } = fixture
  for (const path of [`/caption/${caption_id}`, `/caption/${caption_id}.json`]) {
    const { status, body } = await clients.owner.get<Line[]>(path)
    expect([status, body]).toMatchObject([
      200,
      [
        { ...FIELDS, caption_id, media_id, group_id: '', part_of_caption_id: caption_id, created_by_user_id: uploader.userId },
        { time_code_begin: '00:02', time_code_end: '00:03', caption_text: 'a --> b & <script>alert(1)</script>\n“two”' },
      ],
    ])
    expect((await clients.system.get(path)).body).toEqual(body)
  }
}

export const captionRows: NounRows = {
  noun: 'caption',
  rows: [
    {
      endpoint: 'GET /caption/{id}.{format}',
      async works(fixture) {
        await readable(fixture)
        const { caption_id } = await createCaption(fixture)
        const get = async (format: string) => {
          const response = await fixture.clients.uploader.get<string>(`/caption/${caption_id}.${format}`)
          expect([response.status, response.headers.get('etag')]).toEqual([200, expect.any(String)])
          return { text: response.body, type: response.headers.get('content-type') }
        }
        const vtt = await get('vtt')
        expect(vtt.type).toBe('text/vtt; charset=utf-8')
        const { cues, errors } = new WebVTTParser().parse(vtt.text, 'metadata')
        expect(errors).toEqual([])
        expect(cues.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
          [0.5, 1.75],
          [2.5, 3.75],
        ])
        expect(await get('txt')).toEqual({
          text: 'Good evening\na --> b & <script>alert(1)</script>\n“two”\n',
          type: 'text/plain; charset=utf-8',
        })
        const xml = await get('xml')
        expect([xml.type, XMLValidator.validate(xml.text)]).toEqual(['application/ttml+xml; charset=utf-8', true])
        const { tt } = new XMLParser({ ignoreAttributes: false }).parse(xml.text)
        expect(tt.body.div.p.map((p: Record<string, string>) => [p['@_begin'], p['@_end']])).toEqual([
          ['00:00:00.500', '00:00:01.750'],
          ['00:00:02.500', '00:00:03.750'],
        ])
      },
      async rejectedCalls(fixture) {
        const { caption_id } = await createCaption(fixture)
        return [
          ...['json', 'vtt', 'txt', 'xml'].flatMap((format): RejectedCall[] => [
            { caller: 'otherTenant', method: 'GET', path: `/caption/${caption_id}.${format}`, status: 404, code: 'caption_not_found' },
            { method: 'GET', path: `/caption/999999999.${format}`, status: 404, code: 'caption_not_found' },
            { method: 'GET', path: `/caption/x.${format}`, status: 404, code: 'caption_not_found' },
          ]),
          { caller: 'guest', method: 'GET', path: `/caption/${caption_id}.vtt`, status: 401 },
          { method: 'GET', path: `/caption/${caption_id}.srt`, status: 400, fields: ['format'] },
        ]
      },
    },
    {
      endpoint: 'GET /caption/{id}',
      works: readable,
      async rejectedCalls(fixture) {
        const { caption_id } = await createCaption(fixture)
        return [
          { caller: 'otherTenant', method: 'GET', path: `/caption/${caption_id}`, status: 404, code: 'caption_not_found' },
          { method: 'GET', path: '/caption/999999999', status: 404, code: 'caption_not_found' },
          { method: 'GET', path: '/caption/99999999999999999999', status: 404, code: 'caption_not_found' },
          { caller: 'guest', method: 'GET', path: `/caption/${caption_id}`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /caption',
      async works(fixture) {
        const url = serve(fixture)
        const { media_id, video_id } = await fixture.video()
        const cases: [Record<string, unknown>, string[], string][] = [
          [{ url: `${url}/a.srt` }, ['Good <i>evening</i>', 'a --> b & <script>alert(1)</script>\n“two”'], '00:00'],
          [{ url: `${url}/a.sbv` }, ['Good evening'], '00:00'],
          [{ url: `${url}/a.sub` }, ['Good evening'], '00:01'],
          [{ url: `${url}/b.sub` }, ['Good\nevening'], '00:00'],
          [{ url: `${url}/a.vtt?x=1` }, ['Good & evening'], '100:00'],
          [{ url: `${url}/latin.srt` }, ['Grüß Gott'], '00:00'],
          [{ url: `${url}/wide.srt` }, ['Grüß Gott'], '00:00'],
          [{ content: srt([buildText(10_000)]), format: 'srt', title: buildText(255), language: 'pt_br' }, [buildText(10_000)], '00:00'],
        ]
        for (const [more, texts, begin] of cases) {
          const lines = await create(fixture, media_id, more)
          expect([getTexts(lines), lines[0]?.time_code_begin]).toEqual([texts, begin])
          expect((await fixture.clients.owner.get(`/caption/${getId(lines)}`)).body).toEqual(lines)
          const caption = (await shown(fixture, video_id)).at(-1)
          expect(caption).toEqual({ caption_id: getId(lines), title: lines[0]?.['title'], language: lines[0]?.['language'] })
        }
        expect(await shown(fixture, video_id)).toMatchObject([...Array(7).fill({ language: 'en' }), { language: 'pt-BR' }])
        expect(await create(fixture, media_id, { url: `${url}/most.srt` })).toHaveLength(20_000)

        const key = { 'idempotency-key': `caption of ${media_id}` }
        const payload = { ...FIELDS, media_id, url: `${url}/a.sbv` }
        const first = await fixture.clients.owner.post('/caption', payload, key)
        expect((await fixture.clients.owner.post('/caption', payload, key)).body).toEqual(first.body)
        expect((await fixture.clients.owner.post('/caption', { ...payload, title: 'Other' }, key)).status).toBe(422)
        expect(await shown(fixture, video_id)).toHaveLength(10)
      },
      async rejectedCalls(fixture) {
        const { media_id } = await fixture.video()
        const foreign = await foreignMedia(fixture)
        const full = await fixture.video()
        for (let n = 0; n < 99; n++) await create(fixture, full.media_id)
        await create(fixture, full.media_id)
        const content = { content: SRT, format: 'srt' }
        const post = (payload: unknown, expectation: Omit<RejectedCall, 'method' | 'path' | 'payload'>): RejectedCall => ({
          method: 'POST',
          path: '/caption',
          payload,
          ...expectation,
        })
        return [
          post({}, { status: 400, fields: ['title', 'language', 'media_id', 'url'] }),
          post(
            { title: '', language: '!!', media_id, url: `${fixture.sources.url}/a.txt` },
            { status: 400, fields: ['title', 'language', 'url'] },
          ),
          post({ ...FIELDS, media_id }, { status: 400, fields: ['url'] }),
          post({ ...FIELDS, ...content, media_id: foreign }, { status: 404, code: 'media_not_found' }),
          post({ ...FIELDS, url: `${fixture.sources.url}/a.srt`, media_id: foreign }, { status: 404, code: 'media_not_found' }),
          post({ ...FIELDS, ...content, media_id: '7' }, { status: 404, code: 'media_not_found' }),
          post({ ...FIELDS, ...content, media_id: 'x' }, { status: 400, fields: ['media_id'] }),
          post({ ...FIELDS, ...content, media_id: full.media_id }, { status: 409, code: 'captions_full' }),
          post({ ...FIELDS, ...content, media_id }, { caller: 'guest', status: 401 }),
          post({ ...FIELDS, ...content, media_id }, { caller: 'otherTenant', status: 404, code: 'media_not_found' }),
          ...(await rejectedFieldCalls(fixture, 'POST', '/caption', { ...FIELDS, media_id })),
        ]
      },
    },
    {
      endpoint: 'PUT /caption/{caption_id}',
      async works(fixture) {
        const url = serve(fixture)
        const { caption_id, video_id } = await createCaption(fixture)
        const path = `/caption/${caption_id}`
        const put = async (payload: unknown) => {
          const { status, body } = await fixture.clients.owner.put<Line[]>(path, payload)
          expect(status).toBe(200)
          expect((await fixture.clients.uploader.get(path)).body).toEqual(body)
          return body
        }
        const [before] = (await fixture.clients.owner.get<Line[]>(path)).body
        const renamed = await put({ title: buildText(255), language: 'de' })
        expect(renamed).toMatchObject([{ title: buildText(255), language: 'de', last_modified_by_user_id: fixture.owner.userId }, {}])
        expect(renamed[0]?.caption_line_id).toBe(before?.caption_line_id)
        expect(getTexts(await put({ url: `${url}/a.sbv` }))).toEqual(['Good evening'])
        expect(getTexts(await put({ content: 'WEBVTT\n\n00:01.000 --> 00:02.000\nnew\n', format: 'vtt', title: 'New' }))).toEqual(['new'])
        expect(await shown(fixture, video_id)).toEqual([{ caption_id, title: 'New', language: 'de' }])
        const otherVideo = await fixture.video()
        expect(await put({ media_id: otherVideo.media_id })).toMatchObject([{ media_id: otherVideo.media_id, caption_text: 'new' }])
        expect([await shown(fixture, video_id), await shown(fixture, otherVideo.video_id)]).toEqual([
          [],
          [{ caption_id, title: 'New', language: 'de' }],
        ])
      },
      async rejectedCalls(fixture) {
        const { caption_id } = await createCaption(fixture)
        const path = `/caption/${caption_id}`
        const foreign = await foreignMedia(fixture)
        return [
          { method: 'PUT', path, payload: {}, status: 400, fields: ['payload'] },
          { method: 'PUT', path, payload: { media_id: foreign }, status: 404, code: 'media_not_found' },
          { caller: 'system', method: 'PUT', path, payload: { media_id: foreign }, status: 404, code: 'media_not_found' },
          { method: 'PUT', path, payload: { media_id: '7' }, status: 404, code: 'media_not_found' },
          { caller: 'otherTenant', method: 'PUT', path, payload: { title: 'X' }, status: 404, code: 'caption_not_found' },
          {
            caller: 'otherTenant',
            method: 'PUT',
            path,
            payload: { url: `${fixture.sources.url}/a.srt` },
            status: 404,
            code: 'caption_not_found',
          },
          { method: 'PUT', path: '/caption/999999999', payload: { title: 'X' }, status: 404, code: 'caption_not_found' },
          { caller: 'guest', method: 'PUT', path, payload: { title: 'X' }, status: 401 },
          ...(await rejectedFieldCalls(fixture, 'PUT', path, {})),
        ]
      },
    },
    {
      endpoint: 'DELETE /caption/{caption_id}',
      async works(fixture) {
        const { caption_id, video_id } = await createCaption(fixture)
        const { status, body } = await fixture.clients.uploader.delete(`/caption/${caption_id}`)
        expect([status, body]).toEqual([202, { status: 'Accepted', message: { caption_id, deleted: true } }])
        expect(await shown(fixture, video_id)).toEqual([])
        expect((await fixture.clients.owner.get(`/caption/${caption_id}`)).status).toBe(404)
        expect((await fixture.clients.owner.delete(`/caption/${caption_id}`)).status).toBe(404)

        // The playlist of a playable video lists exactly the existing captions.
        const playing = await fixture.playing()
        const master = async () => (await fetch(playing.uri.hls)).text()
        const createdId = getId(await create(fixture, playing.media_id, { content: SRT, format: 'srt', title: 'Brief' }))
        await waitFor(async () => (await master()).includes('NAME="Brief"'), { timeout: 5_000, describe: 'the captions to be listed' })
        await fixture.clients.system.delete(`/caption/${createdId}`)
        await waitFor(async () => !(await master()).includes('NAME="Brief"'), { timeout: 5_000, describe: 'the captions to be removed' })
      },
      async rejectedCalls(fixture) {
        const { caption_id } = await createCaption(fixture)
        return [
          { caller: 'otherTenant', method: 'DELETE', path: `/caption/${caption_id}`, status: 404, code: 'caption_not_found' },
          { method: 'DELETE', path: '/caption/999999999', status: 404, code: 'caption_not_found' },
          { method: 'DELETE', path: '/caption/x', status: 404, code: 'caption_not_found' },
          { caller: 'guest', method: 'DELETE', path: `/caption/${caption_id}`, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /caption': (v) => ({ ...FIELDS, media_id: v['media_id'], content: SRT, format: 'srt' }),
      'PUT /caption/{}': () => ({ title: 'changed' }),
    },
    make: async (fixture) => ({ caption_id: (await createCaption(fixture)).caption_id, format: 'json' }),
  },
}
