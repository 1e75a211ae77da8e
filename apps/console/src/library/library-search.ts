export const STATUSES = ['waiting for encoding', 'encoding', 'ok', 'failed'] as const
export const ORDERS = ['newest', 'oldest', 'name', 'nameDescending'] as const
export const MAX_SEARCH_LENGTH = 200
export const LAYOUTS = ['grid', 'table'] as const

/** Filters of the library, as they are in its address. A missing value is the default. */
export interface LibrarySearch {
  q?: string
  status?: (typeof STATUSES)[number]
  tag?: string
  folder?: string
  order?: (typeof ORDERS)[number]
  layout?: (typeof LAYOUTS)[number]
  page?: number
}

/** Reads the filters of an address. Invalid values are omitted. */
export function readLibrarySearch(search: Record<string, unknown>): LibrarySearch {
  const text = (name: string) => (typeof search[name] === 'string' || typeof search[name] === 'number' ? String(search[name]) : undefined)
  const oneOf = <T extends string>(name: string, values: readonly T[]) => values.find((value) => value === search[name])
  const page = Number(search['page'])
  return omitUndefined({
    q: text('q')?.slice(0, MAX_SEARCH_LENGTH) || undefined,
    status: oneOf('status', STATUSES),
    tag: text('tag')?.slice(0, 100) || undefined,
    folder: /^[1-9]\d{0,18}$/.test(text('folder') ?? '') ? text('folder') : undefined,
    order: oneOf('order', ORDERS),
    layout: oneOf('layout', LAYOUTS),
    page: Number.isInteger(page) && page > 1 && page <= 50_000 ? page : undefined,
  })
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function omitUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
