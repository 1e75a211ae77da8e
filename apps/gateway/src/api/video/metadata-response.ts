import type { MetadataEntry } from '@vitascope/proto/catalogue/v1/metadata'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

const entry = z
  .object({
    name: schema.text('Name of the entry, of the letters a to z and underscores.', 'genre'),
    private: schema.bool('`true`: guests cannot see the entry.'),
    value: schema.text('Value of the entry.', 'documentary'),
    read_only: schema.bool('`true`: only system keys may change the entry.'),
  })
  .meta({ id: 'MetadataEntry' })

/** Metadata in the video record. */
export const MetadataResponse = z
  .union([
    z.literal(''),
    z.strictObject({ public: z.array(entry), private: z.array(entry) }),
    z.record(z.string(), z.string()).meta({ example: { genre: 'documentary' } }),
  ])
  .meta({
    description:
      'All entries for keys of its organisation and system keys. The public values by name for other callers. `""` if there is none.',
  })

/** Returns the public metadata: values of public entries by name. */
export function guestMetadataResponse(entries: readonly MetadataEntry[]): z.input<typeof MetadataResponse> {
  const open = entries.filter((entry) => !entry.private)
  // Unlike an assignment, this keeps `__proto__` as an own property.
  return open.length === 0 ? '' : Object.fromEntries(open.map(({ name, value }) => [name, value]))
}

/** Returns all entries, for keys of the video's organisation and for system keys. */
export function ownMetadataResponse(entries: readonly MetadataEntry[]): z.input<typeof MetadataResponse> {
  if (entries.length === 0) return ''
  const toEntry = (entry: MetadataEntry) => ({ name: entry.name, private: entry.private, value: entry.value, read_only: entry.readOnly })
  return { public: entries.filter((entry) => !entry.private).map(toEntry), private: entries.filter((entry) => entry.private).map(toEntry) }
}
