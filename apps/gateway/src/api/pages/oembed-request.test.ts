import { expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { hostileTexts } from '../../../test/hostile-texts.ts'
import { oembedUrl, readOembedRequest } from './oembed-request.ts'

const publicUrl = 'https://video.example.org'
const page = `${publicUrl}/player/42`
const read = (query: Record<string, string> | [string, string][]) =>
  readOembedRequest(Array.isArray(query) ? query : Object.entries(query), publicUrl)

function fieldsOf(query: Parameters<typeof read>[0]): string[] {
  try {
    read(query)
    return []
  } catch (error) {
    if (!isDomainError(error)) throw error
    return error.fields.map(({ field }) => field)
  }
}

test('the defaults are JSON and any size', () => {
  const max = { width: Number.POSITIVE_INFINITY, height: Number.POSITIVE_INFINITY }
  expect(read({ url: page })).toEqual({ id: '42', format: 'json', max })
  expect(read({ url: page, format: 'xml', maxwidth: '640', maxheight: '0360', discover: '1' })).toEqual({
    ...{ id: '42', format: 'xml', max: { width: 640, height: 360 } },
  })
})

test.each([
  ['with a token', `${page}?token=a.b&autoplay=1`],
  ['with a fragment', `${page}#t=10`],
  ['with a final slash', `${page}/`],
  ['with another scheme', 'http://video.example.org/player/42'],
  ['with the default port', 'https://VIDEO.example.org:443/player/42'],
])('the URL of a player page %s has the id of its video', (_, url) => {
  expect(read({ url }).id).toBe('42')
})

test.each([
  ['another host', 'https://evil.example/player/42'],
  ['another port', 'https://video.example.org:8443/player/42'],
  ['a host in the user name', 'https://video.example.org@evil.example/player/42'],
  ['a longer host', 'https://video.example.org.evil.example/player/42'],
  ['another page', `${publicUrl}/upload`],
  ['an asset of the player', `${publicUrl}/player/embed.js`],
  ['a path below the page', `${page}/poster.jpg`],
  ['a longer id', `${publicUrl}/player/12345678901234567890`],
  ['another scheme', 'javascript:alert(1)'],
  ['a file', 'file:///player/42'],
])('the URL of %s has no id', (_, url) => {
  expect(read({ url }).id).toBeUndefined()
})

test('a page of the host to which the request was sent has its id', () => {
  const query: [string, string][] = [['url', 'http://localhost:8080/player/42']]
  expect(readOembedRequest(query, publicUrl).id).toBeUndefined()
  expect(readOembedRequest(query, publicUrl, 'localhost').id).toBeUndefined()
  expect(readOembedRequest(query, publicUrl, 'localhost:8080').id).toBe('42')
})

test('every bad field is listed at once', () => {
  expect(fieldsOf({})).toEqual(['url'])
  expect(fieldsOf({ maxwidth: '0', maxheight: '-1', url: 'x' })).toEqual(['maxwidth', 'maxheight', 'url'])
  expect(
    fieldsOf([
      ['url', page],
      ['url', page],
      ['format', 'csv'],
      ['format', 'csv'],
    ]),
  ).toEqual(['url', 'format'])
})

test.each(['', '0', '00', '-1', '+1', '1.5', '1e3', '0x10', ' 640', '640px', '６４０', 'NaN', 'Infinity'])(
  'the maximum size %p is rejected',
  (length) => {
    expect(fieldsOf({ url: page, maxwidth: length })).toEqual(['maxwidth'])
    expect(fieldsOf({ url: page, maxheight: length })).toEqual(['maxheight'])
  },
)

test('a maximum size of many digits is no limit', () => {
  expect(read({ url: page, maxwidth: '9'.repeat(400) }).max.width).toBe(Number.POSITIVE_INFINITY)
})

test.each(['', 'JSON', 'csv', 'jsonp'])('the format %p is not supported', (format) => {
  expect(() => read({ url: page, format })).toThrow(expect.objectContaining({ reason: 'FORMAT_UNSUPPORTED' }))
})

test('a hostile text as URL is a bad field or has no id', () => {
  for (const text of hostileTexts) {
    const fields = fieldsOf({ url: text })
    if (fields.length === 0) expect(read({ url: text }).id).toBeUndefined()
    else expect(fields).toEqual(['url'])
  }
})

test('the URL of a document has the URL of the page as parameter', () => {
  const url = new URL(oembedUrl('42', 'xml', publicUrl))
  expect([url.origin, url.pathname, Object.fromEntries(url.searchParams)]).toEqual([publicUrl, '/oembed', { url: page, format: 'xml' }])
})
