/** Query parameters of the next page. */
export type PageQuery = Record<string, string>

interface LoadedPage<Page> {
  page: Page
  /** Undefined on the last page. */
  next: PageQuery | undefined
}

/**
 * A list of several pages. Each `for await` loop starts at the first page, and requests a page when
 * its first item is read.
 */
export interface PageIterator<Item, Page> extends AsyncIterable<Item> {
  /** Returns the responses as they are, page by page. */
  pages(): AsyncIterable<Page>
  /** Returns the first page only. */
  first(): Promise<Page>
  /** Returns at most `max` items (default 1,000), and requests only the pages that contain them. */
  toArray(max?: number): Promise<Item[]>
}

type Lists<Page> = { [Name in keyof Page]: Page[Name] extends readonly (infer Item)[] ? Item : never }[keyof Page]
/**
 * Item of a page: of an array, of the only list in an object, or `[key, value]` of a map. `never` for
 * other objects: read their `pages()`.
 */
export type ItemOf<Page> = Page extends readonly (infer Item)[]
  ? Item
  : string extends keyof Page
    ? [key: string, value: Page[string]]
    : Lists<Page>

const DEFAULT_MAX_ITEMS = 1_000

export function toPageIterator<Item, Page>(
  load: (query: PageQuery | undefined) => Promise<LoadedPage<Page>>,
  itemsOf: (page: Page) => readonly Item[],
): PageIterator<Item, Page> {
  async function* pages(): AsyncGenerator<Page, void, undefined> {
    let query: PageQuery | undefined
    do {
      const { page, next } = await load(query)
      yield page
      query = next
    } while (query !== undefined)
  }
  async function* items(): AsyncGenerator<Item, void, undefined> {
    for await (const page of pages()) yield* itemsOf(page)
  }
  return {
    pages,
    first: async () => (await load(undefined)).page,
    [Symbol.asyncIterator]: items,
    async toArray(max = DEFAULT_MAX_ITEMS) {
      const list: Item[] = []
      if (max <= 0) return list
      for await (const item of items()) if (list.push(item) >= max) break
      return list
    },
  }
}

/** Returns the items of a page: see `ItemOf`. */
export function listItems<Item>(page: unknown): readonly Item[] {
  if (Array.isArray(page)) return page
  if (typeof page !== 'object' || page === null) return []
  const lists = Object.values(page).filter(Array.isArray)
  return (lists[0] ?? Object.entries(page)) as readonly Item[]
}

/**
 * Returns the query parameters of `rel="next"`. The origin and the path of the link are not used: they
 * are those of the platform behind a proxy.
 */
export function readNextPage(link: string | null): PageQuery | undefined {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(link ?? '')?.[1]
  if (target === undefined || !target.includes('?')) return undefined
  return Object.fromEntries(new URLSearchParams(target.slice(target.indexOf('?'))))
}
