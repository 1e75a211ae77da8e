import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openChannel, principalKey, serviceCall } from '@vitascope/grpc'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { openFileStorage } from '@vitascope/storage'
import type { House } from './table-row.ts'

/** A valid PDF of so many pages, each with its number on it. */
export function aPdf(pages: number): Buffer {
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

/** Puts a file into storage and hands it to the catalogue, as the service that takes uploads does. */
export async function addSlides(
  { platform, owner }: House,
  file: Buffer,
  { presentationId = '', organisationId = owner.organisationId, filename = 'launch.pdf' } = {},
): Promise<string> {
  const environment = await readFile(`/proc/${platform.pid('catalogue')}/environ`, 'utf8')
  const setting = (name: string) =>
    environment
      .split('\0')
      .find((entry) => entry.startsWith(`${name}=`))
      ?.slice(name.length + 1) ?? ''
  const sourceObject = `upload/${organisationId}/${randomUUID()}`
  await (await openFileStorage({ root: join(platform.dataDir, 'storage') })).put(sourceObject, file)
  const key = principalKey((await readFile(setting('VITASCOPE_PRINCIPAL_KEY_FILE'), 'utf8')).trim())
  const channel = openChannel(setting('VITASCOPE_CATALOGUE_LISTEN'), { principalKey: key })
  try {
    const request = { presentationId, organisationId, userId: owner.userId, filename, sourceObject, sourceBytes: file.length }
    const presentations = channel.client(PresentationServiceService)
    return (await presentations.addSlides(request, serviceCall('encoding', randomUUID()))).presentationId
  } finally {
    channel.close()
  }
}
