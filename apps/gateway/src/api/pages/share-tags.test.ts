import { expect, test } from '@jest/globals'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { hostileTexts } from '../../../test/hostile-texts.ts'
import { type ShareData, withFacts, withShareTags } from './share-tags.ts'

const html = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8" /><title>Video</title></head><body><p>x</p></body></html>'

function shareData(fields: Partial<ShareData> = {}): ShareData {
  return {
    id: '42',
    title: 'Launch day',
    description: 'What happened',
    language: 'en-GB',
    image: 'https://video.example.org/delivery/42/v/poster.jpg',
    width: 1280,
    height: 720,
    isUnlisted: false,
    canPlayInline: true,
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
  const { tags } = parseHead(shareData({ canPlayInline: false, image: '', language: '' }))
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
