import type { MetadataEntry } from '@vitascope/proto/catalogue/v1/metadata'
import { z } from 'zod'
import { shown } from '../public-form.ts'

const entry = z
  .object({
    name: shown.text('a to z and underscores.', 'genre'),
    private: shown.bool('True: hidden from guests.'),
    value: shown.text('Its text.', 'documentary'),
    read_only: shown.bool('True: changed with system keys only.'),
  })
  .meta({ id: 'MetadataEntry' })

/** As the video record has it. */
export const MetadataShape = z
  .union([
    z.literal(''),
    z.strictObject({ public: z.array(entry), private: z.array(entry) }),
    z.record(z.string(), z.string()).meta({ example: { genre: 'documentary' } }),
  ])
  .meta({
    description: 'For keys of its organisation and system keys all entries; for everybody else the public values by name. `""` for none.',
  })

/** What anybody may see: the values of public entries by their names. */
export function guestMetadataView(entries: readonly MetadataEntry[]): z.input<typeof MetadataShape> {
  const open = entries.filter((one) => !one.private)
  // Unlike an assignment, this keeps an entry named __proto__ an entry.
  return open.length === 0 ? '' : Object.fromEntries(open.map(({ name, value }) => [name, value]))
}

/** What its organisation and the system see. */
export function ownMetadataView(entries: readonly MetadataEntry[]): z.input<typeof MetadataShape> {
  if (entries.length === 0) return ''
  const view = (one: MetadataEntry) => ({ name: one.name, private: one.private, value: one.value, read_only: one.readOnly })
  return { public: entries.filter((one) => !one.private).map(view), private: entries.filter((one) => one.private).map(view) }
}
