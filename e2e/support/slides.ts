import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openChannel, serviceCall } from '@vitascope/grpc'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { openFileStorage } from '@vitascope/storage'
import { platformKeys } from './platform-keys.ts'
import { readSettings } from './process-settings.ts'
import type { Fixture } from './table-row.ts'

/** Returns a valid PDF with numbered pages. */
export function buildPdf(pages: number): Buffer {
  const kids = Array.from({ length: pages }, (_, page) => `${4 + 2 * page} 0 R`)
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages}/Kids[${kids.join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...kids.flatMap((_, page) => {
      const content = `BT /F1 48 Tf 40 40 Td (Page ${page + 1}) Tj ET`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 640 360]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * page} 0 R>>`,
        `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.7\n'
  const rows = objects.map((object, index) => {
    const row = `${String(text.length).padStart(10, '0')} 00000 n \n`
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return row
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\n`
  return Buffer.from(`${text}${table}startxref\n${text.length}\n%%EOF\n`)
}

/** Stores a file and passes it to the catalogue, like the upload service. */
export async function addSlides(
  { platform, owner }: Fixture,
  file: Buffer,
  { presentationId = '', organisationId = owner.organisationId, filename = 'launch.pdf' } = {},
): Promise<string> {
  const settings = await readSettings(platform, 'catalogue')
  const sourceObject = `upload/${organisationId}/${randomUUID()}`
  await (await openFileStorage({ root: join(platform.dataDir, 'storage') })).put(sourceObject, file)
  const principals = platformKeys(platform.dataDir, 'encoding')
  const channel = openChannel(`${settings.get('VITASCOPE_CATALOGUE_LISTEN')}`, { service: 'catalogue', principals })
  try {
    const request = { presentationId, organisationId, userId: owner.userId, filename, sourceObject, sourceBytes: file.length, uploadId: '' }
    const presentations = channel.client(PresentationServiceService)
    return (await presentations.addSlides(request, serviceCall('encoding', randomUUID()))).presentationId
  } finally {
    channel.close()
    principals.close()
  }
}
