import { describe, expect, test } from '@jest/globals'
import { threadCpuTimeMs } from '@vitascope/testing'
import { createOverlay } from '../../test/overlay-builder.ts'
import { findAddressProblem } from '../rules/web-address.ts'
import { checkOverlay, mergeOverlay, type OverlayFields } from './overlay.ts'

const findInvalidFields = (overlay: Partial<OverlayFields>): string[] => {
  try {
    checkOverlay(createOverlay(overlay))
    return []
  } catch (error) {
    return (error as { fields: { field: string }[] }).fields.map(({ field }) => field)
  }
}
const buildText = (count: number) => '𝄞'.repeat(count)

describe('an overlay', () => {
  test('may be as large as the limits', () => {
    const max = {
      ...{
        title: buildText(255),
        description: buildText(1_000),
        linkText: buildText(255),
        linkAction: buildText(50),
        linkTarget: buildText(50),
      },
      ...{ linkJavascriptCode: buildText(5_000), width: 8_192, height: 1, startSeconds: 0, endSeconds: 59_999, language: 'pt-BR' },
      linkUrl: `https://example.org/${'a'.repeat(2_028)}`,
      imagePath: 'a'.repeat(2_048),
    }
    expect(findInvalidFields(max)).toEqual([])
    expect(findInvalidFields({ startSeconds: 7, endSeconds: 7 })).toEqual([])
  })
  test('is rejected with every invalid field', () => {
    expect(
      findInvalidFields({
        ...{
          mediaId: 'x',
          title: '',
          description: buildText(1_001),
          linkText: buildText(256),
          linkAction: buildText(51),
          linkTarget: buildText(51),
        },
        ...{ linkJavascriptCode: buildText(5_001), width: 8_193, height: 0, startSeconds: 60, endSeconds: 59, language: 'x' },
        linkUrl: `https://example.org/${'a'.repeat(2_029)}`,
        imagePath: 'a'.repeat(2_049),
      }),
    ).toEqual([
      ...['media_id', 'during', 'title', 'description', 'image_path', 'link_text', 'link_action', 'link_url', 'link_target'],
      ...['link_javascript_code', 'language', 'width', 'height'],
    ])
  })
  test.each([
    [{ startSeconds: 5 }],
    [{ endSeconds: 5 }],
    [{ startSeconds: -1, endSeconds: 5 }],
    [{ startSeconds: 0, endSeconds: 60_000 }],
    [{ startSeconds: 0.5, endSeconds: 1 }],
  ])('cannot be shown during %j', (times) => {
    expect(findInvalidFields(times)).toEqual(['during'])
  })
  test('changes the fields in the mask, and always both times', () => {
    const current = createOverlay({ title: 'Old', startSeconds: 1, endSeconds: 2, atEnd: true })
    const after = mergeOverlay(current, createOverlay({ title: 'New', disabled: true }), ['title', 'during'])
    expect(after).toEqual({ ...current, title: 'New', startSeconds: undefined, endSeconds: undefined })
    expect(() => mergeOverlay(current, current, ['organisation_id'])).toThrow('update_mask')
  })
})

describe('a web address', () => {
  test.each(['', 'https://example.org', 'HTTP://EXAMPLE.ORG:8080/a?b=c#d', 'https://münchen.example/ä', 'https://[2001:db8::1]/'])(
    'may be %p',
    (address) => {
      expect(findAddressProblem(address, { paths: false })).toBeUndefined()
    },
  )
  test.each(['images/a.png', '/images/a:b.png', '//cdn.example.org/a.png', '?a=b:c'])('may be the path %p only for an image', (address) => {
    expect(findAddressProblem(address, { paths: true })).toBeUndefined()
    expect(findAddressProblem(address, { paths: false })).toBeDefined()
  })
  test.each([
    ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\tscript:alert(1)', ' javascript:alert(1)', '\u0001javascript:alert(1)'],
    ...['data:text/html,x', 'vbscript:x', 'blob:https://example.org/x', 'file:///etc/passwd', 'ftp://example.org', 'mailto:a@b'],
    ...['https:example.org', 'https:///example.org', 'https://', 'http://a b', 'https:\\\\example.org', 'https://example.org\n', 'x:y'],
    ...['java\u200bscript:x', '\u00a0https://example.org', 'https://%zz'],
  ])('must not be %p', (address) => {
    for (const paths of [true, false]) expect(findAddressProblem(address, { paths })).toBeDefined()
  })
  test('is validated quickly for any length', () => {
    const started = threadCpuTimeMs()
    for (const text of [':'.repeat(65_536), 'a'.repeat(65_536), '/'.repeat(65_536)]) findAddressProblem(text, { paths: true })
    expect(threadCpuTimeMs() - started).toBeLessThan(500)
  })
})
