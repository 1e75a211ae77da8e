import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { systemClient } from '../api/client.ts'
import { type OrganisationRecord, STORAGE_KEY } from './organisation-record.ts'
import type { StorageRow } from './storage-rows.ts'

/** Organisations whose usage is read. The API has no list of it, so each of them is a request. */
export const MAX_ORGANISATIONS = 1_000
/** Requests at once. Browsers open six connections, of which other pages need some. */
const LANES = 4
/** The figures are not read again on each visit, because they take many requests. */
const STALE_MS = 60_000

export interface Storage {
  rows: readonly StorageRow[]
  organisations: ReadonlyMap<string, OrganisationRecord>
  /** There are more organisations than are read. */
  isPartial: boolean
}

/** Reads the stored bytes of all organisations, and how many of them are read. */
export function useStorage() {
  const [progress, setProgress] = useState({ done: 0, all: 0 })
  const query = useQuery({
    queryKey: STORAGE_KEY,
    staleTime: STALE_MS,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }): Promise<Storage> => {
      const list = await systemClient.call('listOrganisations', { query: { limit: MAX_ORGANISATIONS }, signal })
      setProgress({ done: 0, all: list.length })
      const rows: StorageRow[] = []
      const rest = list.values()
      const readRest = async () => {
        for (const { organisation_id } of rest) {
          rows.push(await readRow(organisation_id, signal))
          setProgress({ done: rows.length, all: list.length })
        }
      }
      await Promise.all(Array.from({ length: LANES }, readRest))
      const organisations = new Map(list.map((organisation) => [organisation.organisation_id, organisation]))
      return { rows, organisations, isPartial: list.length === MAX_ORGANISATIONS }
    },
  })
  return { query, progress }
}

async function readRow(id: string, signal: AbortSignal): Promise<StorageRow> {
  const { name, quota, usage } = await systemClient.call('getOrganisationUsage', { path: { organisation_id: id }, signal })
  return {
    ...{ id, name, bytes: Number(usage.bytes), reserved: Number(usage.bytes_reserved) },
    quota: quota.bytes === null ? undefined : Number(quota.bytes),
  }
}
