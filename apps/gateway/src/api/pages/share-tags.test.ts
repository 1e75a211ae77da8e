import { expect, test } from '@jest/globals'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { hostileTexts } from '../../../test/hostile-texts.ts'
import type { ShareData } from './share-data.ts'
import { withFacts, withShareTags } from './share-tags.ts'
import { isoDuration } from './video-object.ts'

const html = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8" /><title>Video</title></head><body><p>x</p></body></html>'

function shareData(fields: Partial<ShareData> = {}): ShareData {
  return {
    id: '42',
    title: 'Launch day',
    description: 'What happened',
    language: 'en-GB',
    images: [{ url: 'https://video.example.org/delivery/42/v/poster.jpg', width: 1280, height: 720 }],
    width: 1280,
    height: 720,
    isUnlisted: false,
    canPlayInline: true,
    requiresCredential: false,
    search: undefined,
    ...fields,
  }
}

function parseHead(shared: ShareData) {
  const page = listElements(parse(withShareTags(html, shared, 'https://video.example.org')))
  const metas = page.filter(({ tagName, parentNode }) => tagName === 'meta' && parentNode?.nodeName === 'head')
  const tags = metas.map(({ attrs }) => Object.fromEntries(attrs.map(({ name, value }) => [name, value])))
  const title = page.find(({ tagName }) => tagName === 'title')?.childNodes[0]
  return {
    tags: Object.fromEntries(tags.flatMap((tag) => ('content' in tag ? [[tag['property'] ?? tag['name'] ?? '', tag['content']]] : []))),
    title: title && 'value' in title ? title.value : '',
    names: page.map(({ tagName }) => tagName),
  }
}

function listElements(node: DefaultTreeAdapterTypes.ParentNode): DefaultTreeAdapterTypes.Element[] {
  return node.childNodes.flatMap((child) => ('tagName' in child ? [child, ...listElements(child)] : []))
}

test('an unlisted video has a tag that excludes it from search engines', () => {
  expect(parseHead(shareData({ isUnlisted: true })).tags).toMatchObject({ robots: 'noindex' })
  expect(parseHead(shareData()).tags).not.toHaveProperty('robots')
})

test('a video that other sites may embed has player tags', () => {
  expect(parseHead(shareData())).toMatchObject({
    title: 'Launch day',
    tags: {
      'og:type': 'video.other',
      'og:title': 'Launch day',
      'og:url': 'https://video.example.org/player/42',
      'og:description': 'What happened',
      'og:image': 'https://video.example.org/delivery/42/v/poster.jpg',
      'og:locale': 'en_GB',
      'og:video': 'https://video.example.org/player/42',
      'og:video:secure_url': 'https://video.example.org/player/42',
      'og:video:type': 'text/html',
      'og:video:width': '1280',
      'og:video:height': '720',
      'twitter:card': 'player',
      'twitter:title': 'Launch day',
      'twitter:player': 'https://video.example.org/player/42',
      'twitter:player:width': '1280',
      'twitter:player:height': '720',
    },
  })
})

test('a video that other sites may not embed has no player tags', () => {
  const { tags } = parseHead(shareData({ canPlayInline: false, images: [], language: '' }))
  expect(Object.keys(tags)).toEqual([
    'og:type',
    'og:title',
    'og:url',
    'og:description',
    'twitter:card',
    'twitter:title',
    'twitter:description',
  ])
  expect(tags['twitter:card']).toBe('summary_large_image')
})

const search = {
  uploadTime: new Date('2030-01-02T03:04:05Z'),
  durationSeconds: 3_723.4,
  contentUrl: 'https://video.example.org/delivery/42/v/master.m3u8',
  chapters: [],
}

/** Returns the attributes of the elements in the head, and their texts. */
function listHead(shared: ShareData, tagName: string) {
  const page = listElements(parse(withShareTags(html, shared, 'https://video.example.org')))
  return page
    .filter((element) => element.tagName === tagName && element.parentNode?.nodeName === 'head')
    .map(({ attrs, childNodes: [text] }) => ({
      ...Object.fromEntries(attrs.map(({ name, value }) => [name, value])),
      text: text && 'value' in text ? text.value : '',
    }))
}

test('a page links to its oEmbed documents, except if viewers need a token or a password', () => {
  const url = (format: string) => `https://video.example.org/oembed?url=https%3A%2F%2Fvideo.example.org%2Fplayer%2F42&format=${format}`
  const link = { rel: 'alternate', title: 'Launch day', text: '' }
  expect(listHead(shareData({ isUnlisted: true }), 'link')).toEqual([
    { ...link, type: 'application/json+oembed', href: url('json') },
    { ...link, type: 'text/xml+oembed', href: url('xml') },
  ])
  expect(listHead(shareData({ requiresCredential: true }), 'link')).toEqual([])
})

test('a page with search data has a VideoObject, and no other page has one', () => {
  const [script, ...more] = listHead(shareData({ search }), 'script')
  expect([script, more]).toMatchObject([{ type: 'application/ld+json' }, []])
  expect(JSON.parse(script?.text ?? '')).toEqual({
    '@context': 'https://schema.org',
    '@type': 'VideoObject',
    name: 'Launch day',
    description: 'What happened',
    thumbnailUrl: ['https://video.example.org/delivery/42/v/poster.jpg'],
    uploadDate: '2030-01-02T03:04:05.000Z',
    duration: 'PT1H2M3S',
    embedUrl: 'https://video.example.org/player/42',
    contentUrl: 'https://video.example.org/delivery/42/v/master.m3u8',
    inLanguage: 'en-GB',
  })
  expect(listHead(shareData(), 'script')).toEqual([])
})

test('the chapters are parts of the VideoObject', () => {
  const chapters = [
    { title: 'Welcome', startMs: 0 },
    { title: 'Questions', startMs: 3_600_500 },
  ]
  const [script] = listHead(shareData({ search: { ...search, chapters } }), 'script')
  const page = 'https://video.example.org/player/42'
  expect(JSON.parse(script?.text ?? '')).toMatchObject({
    hasPart: [
      { '@type': 'Clip', name: 'Welcome', startOffset: 0, endOffset: 3_600.5, url: `${page}#t=0` },
      { '@type': 'Clip', name: 'Questions', startOffset: 3_600.5, endOffset: 3_723.4, url: `${page}#t=3600.5` },
    ],
  })
})

test('a VideoObject has no empty fields', () => {
  const fields = { description: '', language: '', images: [], search: { ...search, durationSeconds: 0 } }
  const [script] = listHead(shareData(fields), 'script')
  expect(Object.keys(JSON.parse(script?.text ?? ''))).toEqual(['@context', '@type', 'name', 'uploadDate', 'embedUrl', 'contentUrl'])
})

test.each([
  [0.2, 'PT1S'],
  [59.6, 'PT1M'],
  [61, 'PT1M1S'],
  [3_600, 'PT1H'],
  [90_061, 'PT25H1M1S'],
])('the ISO duration of %p s is %s', (seconds, duration) => {
  expect(isoDuration(seconds)).toBe(duration)
})

test('a hostile text in a VideoObject or a link adds no element and is not changed', () => {
  const list = (text: string) => {
    const shared = shareData({ title: text, description: text, search })
    return { names: parseHead(shared).names, links: listHead(shared, 'link'), scripts: listHead(shared, 'script') }
  }
  const { names } = list('x')
  for (const text of [...hostileTexts, '<!--<script>', "$& $' $` $1"]) {
    const head = list(text)
    expect([head.names, head.links.length]).toEqual([names, 2])
    expect(JSON.parse(head.scripts[0]?.text ?? '')).toMatchObject({ name: text, description: text })
  }
})

test('a long description is truncated between characters', () => {
  expect([...(parseHead(shareData({ description: '🎬'.repeat(301) })).tags['og:description'] ?? '')]).toHaveLength(300)
})

test('a hostile title or description adds no element to the page', () => {
  const names = parseHead(shareData()).names
  for (const text of [...hostileTexts, "$& $' $` $1"]) {
    const head = parseHead(shareData({ title: text, description: text }))
    expect(head.names).toEqual(names)
    // HTML parsers normalise every line ending to
    // .
    const read = text.replaceAll('\r\n', '\n')
    expect([head.title, head.tags['og:title'], head.tags['og:description']]).toEqual([read, read, read])
  }
})

test.each([
  ['a video', { shows: 'video', shared: shareData() } as const, 'Launch day', ['vitascope:shows=video', 'og:type=video.other']],
  ['a playlist', { shows: 'playlist', shared: shareData() } as const, 'Launch day', ['vitascope:shows=playlist', 'og:type=video.other']],
  ['an id that does not exist', { shows: 'none' } as const, 'Not available', ['vitascope:shows=none']],
  [
    'an expired video',
    { shows: 'none', expired: 'Over "$&" <now>' } as const,
    'Not available',
    ['vitascope:shows=none', 'vitascope:expired=Over "$&" <now>'],
  ],
])('the page has the facts of %s', (_, facts, title, expected) => {
  const page = listElements(parse(withFacts(html, facts, 'https://video.example.org')))
  const texts = page.filter(({ tagName }) => tagName === 'title').map(({ childNodes: [text] }) => text && 'value' in text && text.value)
  const metas = page.filter(({ tagName }) => tagName === 'meta').map(({ attrs }) => attrs.map(({ value }) => value).join('='))
  expect(texts).toEqual([title])
  expect(metas.filter((meta) => /^(vitascope:|og:type)/.test(meta)).sort()).toEqual([...expected].sort())
})
