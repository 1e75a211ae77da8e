// Faults: B12
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer, type Handlers } from '@vitascope/grpc'
import { Playlist, PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { Video, VideoServiceService, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import { embedRoutes } from '../src/api/embed/embed-routes.ts'
import { hostileTexts } from './hostile-texts.ts'
import { startTestGateway } from './started-gateway.ts'

let catalogue: GrpcServer
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let title = 'Launch day'

beforeAll(async () => {
  catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('embed-test') })
  const handlers = {
    async findPublicVideo({ videoId }: { videoId: string }) {
      if (videoId !== '42' && videoId !== '43') throw notFound('video', videoId)
      const status = { state: VideoState.VIDEO_STATE_OK, progress: 100, code: 2000, message: '' }
      return {
        video: Video.create({
          videoId,
          title,
          enabled: true,
          status,
          publishedWidth: 1280,
          publishedHeight: 720,
          presentationId: videoId === '42' ? '9' : '',
        }),
      }
    },
  }
  // Only the methods that an embed code for a guest calls.
  catalogue.implement(VideoServiceService, handlers as unknown as Handlers<typeof VideoServiceService>)
  const listed = {
    async findPublicPlaylist({ playlistId }: { playlistId: string }) {
      if (playlistId !== '77') throw notFound('playlist', playlistId)
      return { playlist: Playlist.create({ playlistId, title: 'Launches' }), videos: [], nextSkip: 0 }
    },
  }
  catalogue.implement(PlaylistServiceService, listed as unknown as Handlers<typeof PlaylistServiceService>)
  gateway = await startTestGateway(embedRoutes, { catalogueAddress: await catalogue.listen('127.0.0.1:0') })
})
afterAll(async () => {
  await gateway?.stop()
  await catalogue?.drain(100)
})

async function call(path: string, query: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v2/embed/${path}?${new URLSearchParams(query)}`)
  return { status: response.status, body: (await response.json()) as unknown }
}

/**
 * Returns the name and attributes of the only element of an embed code. Throws if the code is
 * anything else in any place of a page.
 */
function onlyElement(code: string): [string, Record<string, string>] {
  for (const page of [code, `<p class="x">${code}</p>`, `<div><a href="#">${code}</a></div>`]) {
    const elements = listElements(parseFragment(page)).filter(({ tagName }) => !['p', 'div', 'a'].includes(tagName))
    if (elements.length !== 1) throw new Error(`${elements.length} elements in ${page}`)
  }
  const fragment = parseFragment(code)
  const [element, ...more] = fragment.childNodes
  if (!element || more.length > 0 || !('attrs' in element) || element.childNodes.length > 0) throw new Error(`not one element: ${code}`)
  return [element.tagName, Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]))]
}

function listElements(node: DefaultTreeAdapterTypes.ParentNode): DefaultTreeAdapterTypes.Element[] {
  return node.childNodes.flatMap((child) => ('tagName' in child ? [child, ...listElements(child)] : []))
}

const frameAttributes = ['allow', 'allowfullscreen', 'height', 'loading', 'sandbox', 'src', 'style', 'title', 'width']
const scriptAttributes = ['async', 'data-id', 'data-ratio', 'data-title', 'data-width', 'src']

describe('embed codes', () => {
  test('the iframe code has the player page in a sandbox', async () => {
    const { status, body } = await call('42/iframe', { token: 'to.k-en', width: '100%' })
    expect(status).toBe(200)
    expect(onlyElement((body as string[])[0] ?? '')).toEqual([
      'iframe',
      {
        src: `${gateway.url}/player/42?token=to.k-en`,
        title: 'Launch day',
        width: '100%',
        style: 'border:0;max-width:100%;aspect-ratio:1280/720',
        sandbox: 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads',
        allow: 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write',
        allowfullscreen: '',
        loading: 'lazy',
      },
    ])
  })

  test('the responsive code fills its container and keeps the aspect ratio', async () => {
    const common = {
      src: `${gateway.url}/player/42`,
      title: 'Launch day',
      sandbox: 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads',
      allow: 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write',
      allowfullscreen: '',
      loading: 'lazy',
    }
    const frame = async (query: Record<string, string>) => onlyElement(((await call('42/responsive', query)).body as string[])[0] ?? '')
    expect(await frame({})).toEqual(['iframe', { ...common, width: '100%', style: 'border:0;width:100%;aspect-ratio:1280/720' }])
    expect(await frame({ width: '640' })).toEqual([
      'iframe',
      { ...common, width: '640', height: '360', style: 'border:0;width:100%;max-width:640px;height:auto;aspect-ratio:1280/720' },
    ])
    expect(await frame({ width: '50%', token: 'to.k-en' })).toEqual([
      'iframe',
      { ...common, src: `${common.src}?token=to.k-en`, width: '50%', style: 'border:0;width:50%;aspect-ratio:1280/720' },
    ])
  })

  test('the facade code has an element with all options, a link for pages without scripts, and the script', async () => {
    const query = { width: '640', token: 'to.k-en', referrer_url: 'https://www.example.org/', show_presentation: 'true' }
    const { body } = await call('42/facade', query)
    const [facade, script, ...more] = parseFragment((body as string[])[0] ?? '').childNodes as DefaultTreeAdapterTypes.Element[]
    const attributes = ({ attrs = [] }: Partial<DefaultTreeAdapterTypes.Element> = {}) =>
      Object.fromEntries(attrs.map(({ name, value }) => [name, value]))
    expect([facade?.tagName, attributes(facade)]).toEqual([
      'div',
      {
        ...{ 'data-vitascope-video': '42', 'data-title': 'Launch day', 'data-width': '640', 'data-ratio': '2560/720' },
        ...{ 'data-token': 'to.k-en', 'data-referrer-url': 'https://www.example.org/', 'data-presentation': 'true' },
      },
    ])
    const [link] = (facade?.childNodes ?? []) as DefaultTreeAdapterTypes.Element[]
    expect([link?.tagName, attributes(link), link?.childNodes[0]]).toMatchObject([
      'a',
      { href: `${gateway.url}/player/42?token=to.k-en` },
      { value: 'Launch day' },
    ])
    expect([script?.tagName, attributes(script), more]).toEqual(['script', { async: '', src: `${gateway.url}/player/embed.js` }, []])
  })

  test.each(['responsive', 'facade'])('the %s code has no fixed height', async (type) => {
    expect(await call(`42/${type}`, { height: '360' })).toMatchObject({ status: 400, body: { errors: [{ field: 'height' }] } })
  })

  test('the iframe code without a requested size keeps the aspect ratio in narrow pages', async () => {
    const { body } = await call('42/iframe')
    const [, attributes] = onlyElement((body as string[])[0] ?? '')
    expect(attributes).toMatchObject({
      ...{ width: '1280', height: '720', style: 'border:0;max-width:100%;height:auto;aspect-ratio:1280/720' },
    })
  })

  test('the iframe code with a requested height has a fixed height', async () => {
    const { body } = await call('42/iframe', { width: '400', height: '300' })
    const [, attributes] = onlyElement((body as string[])[0] ?? '')
    expect(attributes).toMatchObject({ width: '400', height: '300', style: 'border:0;max-width:100%' })
  })

  test('the script code is the default and has all options as attributes', async () => {
    const query = { element_id: 'here', referrer_url: 'https://www.example.org/a?b=c&d', player: 'poodle', show_presentation: 'true' }
    const [plain, typed] = [await call('42', query), await call('42/js', query)]
    expect([plain.status, plain.body]).toEqual([200, typed.body])
    expect(onlyElement((plain.body as string[])[0] ?? '')).toEqual([
      'script',
      {
        async: '',
        src: `${gateway.url}/player/embed.js`,
        'data-id': '42',
        'data-title': 'Launch day',
        'data-width': '2560',
        'data-ratio': '2560/720',
        'data-element-id': 'here',
        'data-referrer-url': 'https://www.example.org/a?b=c&d',
        'data-player': 'poodle',
        'data-presentation': 'true',
      },
    ])
  })

  test('the presentation code is the script code with slides', async () => {
    const { status, body } = await call('presentation/42')
    const [name, attributes] = onlyElement((body as string[])[0] ?? '')
    expect([status, name, attributes['data-presentation'], attributes['data-id']]).toEqual([200, 'script', 'true', '42'])
  })

  test('embed.js can be loaded by pages of every origin', async () => {
    const webDir = mkdtempSync(join(tmpdir(), 'vitascope-embed-'))
    writeFileSync(join(webDir, 'embed.js'), '(()=>{})();')
    const serving = await startTestGateway(embedRoutes, { webDir })
    const script = await fetch(`${serving.url}/player/embed.js`)
    const missing = await fetch(`${gateway.url}/player/embed.js`)
    await serving.stop()
    rmSync(webDir, { recursive: true })
    const header = (name: string) => script.headers.get(name)
    expect([script.status, header('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect([header('access-control-allow-origin'), header('cross-origin-resource-policy')]).toEqual(['*', 'cross-origin'])
    expect([header('cache-control'), typeof header('last-modified')]).toEqual(['public, max-age=300', 'string'])
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  })

  test('the code of a playlist has its title and the default size', async () => {
    const { status, body } = await call('77/iframe')
    const [, attributes] = onlyElement((body as string[])[0] ?? '')
    expect([status, attributes['title'], attributes['width'], attributes['height']]).toEqual([200, 'Launches', '640', '360'])
    expect((await call('presentation/77')).status).toBe(404)
  })

  test('a video without a presentation has no presentation code', async () => {
    const none = { code: 'presentation_not_found', detail: 'this video has no presentation' }
    expect(await call('presentation/43')).toMatchObject({ status: 404, body: none })
  })

  test.each(['41', '41/js', '41/iframe', 'presentation/41', 'presentation', 'x%3Cy'])('%s returns 404', async (path) => {
    expect((await call(path)).status).toBe(404)
  })

  test('every invalid parameter is reported at once', async () => {
    const bad = { width: '0', height: '101%', element_id: '1a', player: 'cat', referrer_url: 'ftp://x/', show_presentation: 'yes' }
    const { status, body } = await call('42/js', { ...bad, token: 'x'.repeat(2_001) })
    expect(status).toBe(400)
    const named = (body as { errors: { field: string }[] }).errors.map(({ field }) => field)
    expect(named.sort()).toEqual(['element_id', 'height', 'player', 'referrer_url', 'show_presentation', 'token', 'width'])
    expect((await call('42/html')).status).toBe(400)
  })

  test.each([
    ['width', '9999', 200],
    ['width', '10000', 400],
    ['height', '1%', 200],
    ['height', '0%', 400],
    ['height', '100%', 200],
    ['element_id', 'a'.repeat(64), 200],
    ['element_id', 'a'.repeat(65), 400],
    ['token', 'x'.repeat(2_000), 200],
    ['token', '', 400],
    ['referrer_url', `https://h/${'x'.repeat(1_990)}`, 200],
    ['referrer_url', `https://h/${'x'.repeat(1_991)}`, 400],
    ['referrer_url', 'https://me:secret@h/', 400],
    ['show_presentation', '0', 200],
  ])('a boundary value of %s (%#) is accepted or rejected', async (name, value, status) => {
    expect((await call('42/js', { [name]: value })).status).toBe(status)
  })
})

describe('hostile texts', () => {
  test('include at least 60 different texts', () => {
    expect(hostileTexts.length).toBeGreaterThanOrEqual(60)
    expect(new Set(hostileTexts).size).toBe(hostileTexts.length)
  })

  const parameters = ['width', 'height', 'element_id', 'token', 'referrer_url', 'player', 'show_presentation'] as const
  const attributeNames: Record<(typeof parameters)[number], string | undefined> = {
    width: undefined,
    height: undefined,
    element_id: 'data-element-id',
    token: 'data-token',
    referrer_url: 'data-referrer-url',
    player: 'data-player',
    show_presentation: 'data-presentation',
  }

  /**
   * Number of accepted texts per parameter over the three paths. A token can be any text, an
   * element id can be `__proto__`, and a referrer can be a complete URL. The presentation code
   * ignores `show_presentation`.
   */
  const acceptedTexts: Readonly<Record<string, number>> = {
    token: 3 * hostileTexts.length,
    element_id: 3,
    referrer_url: 3 * 3,
    show_presentation: hostileTexts.length,
  }

  test.each(parameters)('as %s are rejected, or the code keeps its elements and attributes', async (parameter) => {
    let accepted = 0
    for (const path of ['42/js', '42/iframe', 'presentation/42']) {
      for (const hostile of hostileTexts) {
        const { status, body } = await call(path, { [parameter]: hostile })
        expect([200, 400]).toContain(status)
        if (status === 400) continue
        accepted++
        checkCode((body as string[])[0] ?? '', path, [parameter, hostile])
      }
    }
    expect(accepted).toBe(acceptedTexts[parameter] ?? 0)
  })

  test('as the title do not change the elements and attributes of the code', async () => {
    try {
      for (const hostile of hostileTexts) {
        title = hostile
        for (const path of ['42/js', '42/iframe', 'presentation/42']) {
          const { status, body } = await call(path)
          expect(status).toBe(200)
          checkCode((body as string[])[0] ?? '', path, ['title', hostile])
        }
      }
    } finally {
      title = 'Launch day'
    }
  })

  test.each([
    ['responsive', ['iframe']],
    ['facade', ['div', 'a', 'script']],
  ])('as title and token do not change the elements of the %s code', async (type, names) => {
    try {
      for (const hostile of hostileTexts) {
        title = hostile
        const { body } = await call(`42/${type}`, { token: hostile })
        const elements = listElements(parseFragment((body as string[])[0] ?? ''))
        expect(elements.map(({ tagName }) => tagName)).toEqual(names)
        const values = new Map(elements.flatMap(({ attrs }) => attrs.map(({ name, value }) => [name, value])))
        expect([...values.keys()].filter((name) => name.startsWith('on'))).toEqual([])
        expect(values.get('title') ?? values.get('data-title')).toBe(hostile)
        const player = new URL(values.get('href') ?? values.get('src') ?? '')
        expect([player.origin, player.pathname, player.searchParams.get('token')]).toEqual([gateway.url, '/player/42', hostile])
      }
    } finally {
      title = 'Launch day'
    }
  })

  function checkCode(code: string, path: string, [parameter, hostile]: [string, string]) {
    const [name, attributes] = onlyElement(code)
    const isFrame = path.endsWith('iframe')
    expect(name).toBe(isFrame ? 'iframe' : 'script')
    const own = parameter === 'title' ? undefined : attributeNames[parameter as keyof typeof attributeNames]
    const expected = isFrame
      ? frameAttributes
      : [...new Set([...scriptAttributes, ...(own ? [own] : []), ...(path.startsWith('presentation') ? ['data-presentation'] : [])])].sort()
    expect(Object.keys(attributes).sort()).toEqual(expected)
    // There is no event handler and no other scheme, and the URL begins with that of the gateway.
    expect(Object.keys(attributes).filter((attribute) => attribute.startsWith('on'))).toEqual([])
    expect(attributes['src']?.startsWith(`${gateway.url}/player/${isFrame ? '42' : 'embed.js'}`)).toBe(true)
    expect(code).not.toMatch(/[\u2028\u2029\n\r]/)
    expect(code.replaceAll(/^<(?:iframe|script)|><\/(?:iframe|script)>$/g, '')).not.toMatch(/[<>`']/)
    const shown = parameter === 'title' ? attributes[isFrame ? 'title' : 'data-title'] : undefined
    if (parameter === 'title') expect(shown).toBe(hostile)
    if (parameter === 'token') {
      const token = isFrame ? new URL(attributes['src'] ?? '').searchParams.get('token') : attributes['data-token']
      expect(token).toBe(hostile)
    }
    if (parameter === 'referrer_url' && !isFrame) expect(attributes['data-referrer-url']).toMatch(/^https?:\/\//)
  }
})
