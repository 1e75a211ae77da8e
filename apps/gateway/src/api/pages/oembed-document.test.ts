// Faults: B12
import { expect, test } from '@jest/globals'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import { hostileTexts } from '../../../test/hostile-texts.ts'
import { formatOembed, oembedDocument } from './oembed-document.ts'
import type { ShareData } from './share-data.ts'

const publicUrl = 'https://video.example.org'
const image = (name: string, width: number, height: number) => ({ url: `${publicUrl}/delivery/42/v/${name}.jpg`, width, height })
const poster = image('poster', 1280, 720)
const thumbnail = image('thumbnail', 426, 240)

function shareData(fields: Partial<ShareData> = {}): ShareData {
  return {
    ...{ id: '42', title: 'Launch day', description: '', language: '', images: [poster, thumbnail], width: 1920, height: 1080 },
    ...{ isUnlisted: false, canPlayInline: false, requiresCredential: false, search: undefined, ...fields },
  }
}

const NO_LIMIT = Number.POSITIVE_INFINITY
const describeVideo = (fields: Partial<ShareData> = {}, max: { width?: number; height?: number } = {}) =>
  oembedDocument(shareData(fields), { width: NO_LIMIT, height: NO_LIMIT, ...max }, publicUrl)

function readFrame(html: string): Record<string, string> {
  const [element, ...more] = parseFragment(html).childNodes as DefaultTreeAdapterTypes.Element[]
  if (element?.tagName !== 'iframe' || more.length > 0) throw new Error(`not one iframe: ${html}`)
  return Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]))
}

test('the document has the fields of the oEmbed type video', () => {
  const { html, ...fields } = describeVideo()
  expect(fields).toEqual({
    ...{ version: '1.0', type: 'video', title: 'Launch day', provider_name: 'Vitascope', provider_url: publicUrl, cache_age: 3_600 },
    ...{ thumbnail_url: poster.url, thumbnail_width: 1280, thumbnail_height: 720, width: 1920, height: 1080 },
  })
  expect(readFrame(html)).toEqual({
    src: `${publicUrl}/player/42`,
    title: 'Launch day',
    width: '1920',
    height: '1080',
    style: 'border:0;width:100%;max-width:1920px;height:auto;aspect-ratio:1920/1080',
    sandbox: 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads',
    allow: 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write',
    allowfullscreen: '',
    loading: 'lazy',
  })
})

test.each([
  ['the width', { width: 640 }, 640, 360],
  ['the height', { height: 360 }, 640, 360],
  ['both, of which the height is smaller', { width: 640, height: 180 }, 320, 180],
  ['both, of which the width is smaller', { width: 320, height: 900 }, 320, 180],
  ['a width above that of the video', { width: 4_000 }, 1920, 1080],
  ['one pixel', { width: 1 }, 1, 1],
])('a maximum of %s keeps the aspect ratio', (_, max, width, height) => {
  const document = describeVideo({}, max)
  expect([document.width, document.height]).toEqual([width, height])
  expect(readFrame(document.html)).toMatchObject({ width: String(width), style: expect.stringContaining(`max-width:${width}px`) })
})

test('every size fits into the maximum', () => {
  for (let width = 1; width < 60; width++) {
    for (const height of [1, 7, 30, 100]) {
      const document = describeVideo({ width: 1279, height: 719 }, { width, height })
      expect([document.width <= width, document.height <= height]).toEqual([true, true])
    }
  }
})

test('an upright video keeps its aspect ratio', () => {
  expect(describeVideo({ width: 1080, height: 1920 }, { width: 640, height: 640 })).toMatchObject({ width: 360, height: 640 })
})

test('the thumbnail is the largest one that fits into the maximum', () => {
  expect(describeVideo({}, { width: 1280 })).toMatchObject({ thumbnail_url: poster.url })
  expect(describeVideo({}, { width: 1279 })).toMatchObject({ thumbnail_url: thumbnail.url, thumbnail_width: 426, thumbnail_height: 240 })
  expect(describeVideo({}, { height: 239 })).not.toHaveProperty('thumbnail_url')
  expect(Object.keys(describeVideo({ images: [] })).filter((name) => name.startsWith('thumbnail'))).toEqual([])
})

test('a video without a title has the title "Video"', () => {
  expect(describeVideo({ title: '' }).title).toBe('Video')
})

test.each([...hostileTexts, "$& $' $` $1"])('the hostile title %p is text in JSON, in XML and in the embed code', (title) => {
  const document = describeVideo({ title })
  expect(JSON.parse(formatOembed(document, 'json').text)).toEqual(document)
  // Characters that XML cannot represent are replaced.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 forbids exactly these
  const toXmlText = (text: string) => text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd')
  const { text, contentType } = formatOembed(document, 'xml')
  expect([contentType, XMLValidator.validate(text)]).toEqual(['text/xml; charset=utf-8', true])
  const { oembed } = new XMLParser({ parseTagValue: false, trimValues: false, htmlEntities: true }).parse(text)
  expect(Object.keys(oembed)).toEqual(Object.keys(document))
  expect([oembed.title, oembed.html]).toEqual([toXmlText(title), toXmlText(document.html)])
  expect(readFrame(document.html)['title']).toBe(title)
  expect(readFrame(document.html)['src']).toBe(`${publicUrl}/player/42`)
})
