import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toSlideSet } from '../engine/slide-set.ts'
import type { SlidesFile } from '../task/task.ts'
import { findOffice } from './find-office.ts'
import { sniffPresentation } from './sniff-presentation.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-slides-'))
})
afterAll(() => rm(folder, { recursive: true }))

const archive = (text: string, behind = 0) =>
  Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(text), Buffer.alloc(behind)])

describe('the format of a file', () => {
  test.each([
    ['pdf', Buffer.from('%PDF-1.7')],
    ['pdf', Buffer.concat([Buffer.alloc(1_019), Buffer.from('%PDF-')])],
    ['pptx', archive('ppt/presentation.xml')],
    ['pptx', Buffer.concat([archive('', 200_000), Buffer.from('ppt/presentation.xml'), Buffer.alloc(900_000)])],
    ['odp', archive('mimetypeapplication/vnd.oasis.opendocument.presentation')],
  ])('is detected as %s from its bytes (%#)', async (format, bytes) => {
    const file = join(folder, 'file')
    await writeFile(file, bytes)
    expect(await sniffPresentation(file)).toBe(format)
  })
  test.each([
    [Buffer.alloc(0)],
    [Buffer.concat([Buffer.alloc(1_020), Buffer.from('%PDF-')])],
    [archive('word/document.xml')],
    [archive('mimetypeapplication/vnd.oasis.opendocument.text')],
    [Buffer.from('ppt/presentation.xml')],
    [Buffer.from([0xd0, 0xcf, 0x11, 0xe0])],
  ])('is rejected if it is not a presentation (%#)', async (bytes) => {
    const file = join(folder, 'file')
    await writeFile(file, bytes)
    await expect(sniffPresentation(file)).rejects.toMatchObject({ name: 'InvalidSource', code: 4002 })
  })
})

describe('LibreOffice', () => {
  test('is the configured program, or the first existing one, or none', async () => {
    const office = join(folder, 'soffice.bin')
    await writeFile(office, '', { mode: 0o755 })
    expect(await findOffice(office)).toBe(office)
    expect(await findOffice(undefined, ['/nowhere/soffice.bin', office])).toBe(office)
    expect(await findOffice(undefined, ['/nowhere/soffice.bin'])).toBeUndefined()
    expect(await findOffice('off', [office])).toBeUndefined()
  })
  test('that is configured but missing is a configuration error', async () => {
    await expect(findOffice('/nowhere/soffice.bin')).rejects.toThrow(/VITASCOPE_LIBREOFFICE/)
  })
})

describe('a set of slides', () => {
  const stored = { bytes: 5, sha256: '' }
  const page = (number: number): SlidesFile[] => [
    { path: `s${number}`, ...stored, kind: 'slide', page: number, width: 4, height: 3 },
    { path: `t${number}`, ...stored, kind: 'thumbnail', page: number },
  ]
  const document: SlidesFile = { path: 'document.pdf', ...stored, kind: 'document' }

  test('has every page in order and the document', () => {
    expect(toSlideSet({ jobId: '3' }, 'slides/8/3-1', [document, ...page(2), ...page(1)])).toMatchObject({
      jobId: '3',
      prefix: 'slides/8/3-1',
      slides: [
        { path: 's1', thumbnailPath: 't1', width: 4, height: 3 },
        { path: 's2', thumbnailPath: 't2' },
      ],
      documentPath: 'document.pdf',
      bytes: 25,
    })
  })
  test.each([[[...page(1)]], [[document]], [[document, ...page(1), ...page(3)]], [[document, ...page(1).slice(0, 1)]]])(
    'with a missing file is rejected (%#)',
    (files) => {
      expect(() => toSlideSet({ jobId: '3' }, 'slides/8/3-1', files)).toThrow()
    },
  )
})
