import { useQuery } from '@tanstack/react-query'
import { readWithEtag, type Versioned } from '../api/read-with-etag.ts'

interface Options<Form> {
  kind: 'profile' | 'theme'
  /** Undefined for a new record. */
  id: string | undefined
  /** Form of a new record. */
  empty: Form
  read: (id: string, options: { signal?: AbortSignal; onResponse: (response: Response) => void }) => Promise<Form>
}

/** Reads the form of a profile or a theme. It is read once, so that the form keeps what was typed. */
export function useRecord<Form>({ kind, id, empty, read }: Options<Form>) {
  const query = useQuery<Versioned<Form>>({
    queryKey: [kind, id],
    // The new sign-in after the end of a session reads all other records again.
    staleTime: 'static',
    gcTime: 0,
    queryFn: async ({ signal }) =>
      id === undefined ? { record: empty, etag: undefined } : readWithEtag((onResponse) => read(id, { signal, onResponse })),
  })
  /** Returns the ETag of the current record, or undefined for a new one. */
  const readEtag = async () => (id === undefined ? undefined : (await readWithEtag((onResponse) => read(id, { onResponse }))).etag)
  return { query, readEtag }
}
