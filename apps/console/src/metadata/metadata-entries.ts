import type { Schemas } from '@vitascope/sdk'

export type MetadataEntry = Schemas['MetadataEntry']

/** Entries that a change of the metadata adds, changes and deletes. */
export interface MetadataChange {
  added: MetadataEntry[]
  changed: MetadataEntry[]
  deleted: string[]
}

/** Returns the entries of a video that the caller may edit, sorted by name. */
export function listEntries(metadata: Schemas['Video']['metadata']): MetadataEntry[] {
  if (typeof metadata !== 'object' || !Array.isArray(metadata['public']) || !Array.isArray(metadata['private'])) return []
  return [...metadata['public'], ...metadata['private']].toSorted((a, b) => a.name.localeCompare(b.name))
}

/** Returns what has to be sent so that the stored entries become the given ones. */
export function compareEntries(stored: readonly MetadataEntry[], entries: readonly MetadataEntry[]): MetadataChange {
  return {
    added: entries.filter(({ name }) => !find(stored, name)),
    changed: entries.filter((entry) => {
      const before = find(stored, entry.name)
      return before !== undefined && isChanged(before, entry)
    }),
    deleted: stored.filter(({ name }) => !find(entries, name)).map(({ name }) => name),
  }
}

/**
 * Returns the rows of a form whose entries have changed from `base` to `stored`, and the entries that others have added.
 * Rows that the form has not changed get the stored values, or are left out if others have deleted them.
 */
export function mergeEntries<Row extends MetadataEntry>(
  rows: readonly Row[],
  { base, stored }: { base: readonly MetadataEntry[]; stored: readonly MetadataEntry[] },
): { kept: Row[]; added: MetadataEntry[] } {
  const kept = rows.flatMap((row) => {
    const [before, after] = [find(base, row.name), find(stored, row.name)]
    if (!before || isChanged(before, row)) return [row]
    return after ? [{ ...row, ...after }] : []
  })
  return { kept, added: stored.filter(({ name }) => !find(base, name) && !find(rows, name)) }
}

function find(entries: readonly MetadataEntry[], name: string): MetadataEntry | undefined {
  return entries.find((entry) => entry.name === name)
}

function isChanged(before: MetadataEntry, after: MetadataEntry): boolean {
  return before.value !== after.value || before.private !== after.private
}
