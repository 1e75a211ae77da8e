/** A record and its ETag, which a change of it sends back. */
export interface Versioned<T> {
  record: T
  etag: string | undefined
}

/** Reads a record with its ETag. `read` passes the function on to the call. */
export async function readWithEtag<T>(read: (onResponse: (response: Response) => void) => Promise<T>): Promise<Versioned<T>> {
  let etag: string | undefined
  const record = await read(({ headers }) => {
    etag = headers.get('etag') ?? undefined
  })
  return { record, etag }
}
