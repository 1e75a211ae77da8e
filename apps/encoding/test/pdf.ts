/** Content of a page: its size in points, and PDF operators. `/F1` is Helvetica. */
export interface PdfPage {
  width?: number
  height?: number
  content?: string
  resources?: string
}

/**
 * Returns a valid PDF of these pages. Additional objects precede the pages and have the numbers
 * from 4.
 */
export function makePdf(pages: readonly PdfPage[], additional: readonly (string | Buffer)[] = []): Buffer {
  const firstPageNumber = 4 + additional.length
  const kids = pages.map((_, index) => `${firstPageNumber + 2 * index} 0 R`).join(' ')
  const objects: (string | Buffer)[] = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids[${kids}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...additional,
    ...pages.flatMap(({ width = 640, height = 360, content = '', resources = '' }, index) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Resources<</Font<</F1 3 0 R>>${resources}>>/Contents ${firstPageNumber + 2 * index + 1} 0 R>>`,
      formatStream('', Buffer.from(content)),
    ]),
  ]
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = parts[0]?.length ?? 0
  const add = (part: Buffer) => {
    parts.push(part)
    length += part.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(length)
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]))
  }
  const xrefOffset = length
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  add(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\n`))
  add(Buffer.from(`startxref\n${xrefOffset}\n%%EOF\n`))
  return Buffer.concat(parts)
}

export function formatStream(dictionary: string, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`<<${dictionary}/Length ${bytes.length}>>\nstream\n`), bytes, Buffer.from('\nendstream')])
}

/** Returns a page of one colour (`r g b` from 0 to 1) with its number. */
export function makePlainPage(
  colour: string,
  number: number,
  size: { width: number; height: number } = { width: 640, height: 360 },
): PdfPage {
  const { width, height } = size
  return { ...size, content: `${colour} rg 0 0 ${width} ${height} re f 0 0 0 rg BT /F1 48 Tf 40 40 Td (Page ${number}) Tj ET` }
}

/** Returns pages that are slow to render, because each is covered repeatedly with curves. */
export function makeSlowPages(count: number, strokes: number): PdfPage[] {
  const curves = Array.from({ length: strokes }, (_, i) => `0 ${i % 360} m 100 0 300 360 640 ${(i * 7) % 360} c S`).join('\n')
  return Array.from({ length: count }, () => ({ content: `0.1 w\n${curves}` }))
}

/**
 * Returns a small file whose page draws a form ten times, which draws another form ten times, and
 * so on: 10^levels forms.
 */
export function makeNestedForms(levels: number): Buffer {
  const forms = Array.from({ length: levels }, (_, level) => {
    const resources = level === 0 ? '' : `/Resources<</XObject<</X ${4 + level - 1} 0 R>>>>`
    const content = level === 0 ? '0 0 640 360 re f 0 0 m 640 360 l S' : '/X Do '.repeat(10)
    return formatStream(`/Type/XObject/Subtype/Form/BBox[0 0 640 360]${resources}`, Buffer.from(content))
  })
  return makePdf([{ content: '/X Do', resources: `/XObject<</X ${4 + levels - 1} 0 R>>` }], forms)
}
