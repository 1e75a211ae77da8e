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
  const find = (list: readonly MetadataEntry[], name: string) => list.find((entry) => entry.name === name)
  return {
    added: entries.filter(({ name }) => !find(stored, name)),
    changed: entries.filter((entry) => {
      const before = find(stored, entry.name)
      return before !== undefined && (before.value !== entry.value || before.private !== entry.private)
    }),
    deleted: stored.filter(({ name }) => !find(entries, name)).map(({ name }) => name),
  }
}
