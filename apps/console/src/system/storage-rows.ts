/** Stored bytes of an organisation. */
export interface StorageRow {
  id: string
  name: string
  bytes: number
  /** Bytes that uploads and jobs have reserved. They count against the quota. */
  reserved: number
  /** Undefined without a limit. */
  quota: number | undefined
}

export type StorageOrder = 'bytes' | 'used' | 'name'

/** Share of a quota from which it is nearly full. */
export const NEARLY_FULL = 0.9

/** Returns the used share of the quota, from 0, or undefined without a quota. A quota of 0 bytes is used completely. */
export function usedShare({ bytes, reserved, quota }: StorageRow): number | undefined {
  if (quota === undefined) return undefined
  return quota === 0 ? 1 : (bytes + reserved) / quota
}

/** Returns the rows whose name contains a text, in an order. Rows that are equal in it are ordered by their bytes. */
export function selectRows(rows: readonly StorageRow[], order: StorageOrder, text: string): StorageRow[] {
  const compare = {
    bytes: () => 0,
    // An organisation without a quota cannot fill it.
    used: (a: StorageRow, b: StorageRow) => (usedShare(b) ?? -1) - (usedShare(a) ?? -1),
    name: (a: StorageRow, b: StorageRow) => a.name.localeCompare(b.name),
  }[order]
  const part = text.trim().toLocaleLowerCase()
  return rows
    .filter(({ id, name }) => part === '' || id === part || name.toLocaleLowerCase().includes(part))
    .sort((a, b) => compare(a, b) || b.bytes - a.bytes || a.name.localeCompare(b.name))
}

/** Returns the figures of all organisations together. */
export function sumRows(rows: readonly StorageRow[]) {
  const sum = (read: (row: StorageRow) => number) => rows.reduce((total, row) => total + read(row), 0)
  return {
    bytes: sum((row) => row.bytes),
    reserved: sum((row) => row.reserved),
    quota: sum((row) => row.quota ?? 0),
    unlimited: sum((row) => (row.quota === undefined ? 1 : 0)),
    nearlyFull: sum((row) => ((usedShare(row) ?? 0) >= NEARLY_FULL ? 1 : 0)),
  }
}
