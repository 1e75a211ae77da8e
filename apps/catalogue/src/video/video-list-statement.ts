import type { Status } from '../media/status.ts'
import type { Scope } from '../visibility.ts'
import type { Key, VideoListing } from './video-listing.ts'
import { matchStatement, type SearchWords, toQuery } from './video-search.ts'

/** What narrows a list, looked up. */
export interface Filters {
  scope: Scope
  state?: Status['state'] | undefined
  tag?: string | undefined
  /** One of the scope. */
  folderId?: string | undefined
  words?: SearchWords
  /** Of a search that leads to very many: where the newest are, or how they are found. */
  windows?: readonly number[]
  own?: 'some' | 'newest'
}

/** Rows that are counted. */
const MOST_COUNTED = 10_000
/** Videos that a search finds: each costs some microseconds to be read and ranked. */
export const MOST_FOUND = 1_000

interface Statement {
  text: string
  values: unknown[]
}

/**
 * The keys of a page, from one narrow index or table, so that rows that are passed over are not read. Everything in the text is a
 * constant of this file; what callers say goes into the values.
 */
export function keyStatement(
  listing: VideoListing,
  filters: Filters,
  { after, limit, skip }: { after: Key | undefined; limit: number; skip: number },
): Statement {
  const values: unknown[] = []
  const source = sourceOf(filters, values, listing.order === 'relevance')
  const { columns, types, direction } = orderOf(listing, source)
  const where = [...source.where]
  if (after) {
    const place = [after.sort, ...(after.createTime ? [after.createTime] : []), after.videoId].map((value, index) => {
      values.push(value)
      return `$${values.length}::${types[index]}`
    })
    where.push(`(${columns.join(', ')}) ${direction === 'desc' ? '<' : '>'} (${place.join(', ')})`)
  }
  values.push(limit, skip)
  const [sort, second] = columns
  const selected = columns.length === 3 ? `${sort}::text as sort, ${second} as create_time` : `${sort} as sort`
  const text = `select ${source.id} as video_id, ${selected} from ${source.from} where ${where.join(' and ')}
    order by ${columns.map((column) => `${column} ${direction}`).join(', ')} limit $${values.length - 1} offset $${values.length}`
  return { text, values }
}

export function toKey({ order }: VideoListing, row: { video_id: string; sort: Date | string; create_time?: Date }): Key {
  const { video_id: videoId, sort, create_time: createTime } = row
  return order === 'relevance' && createTime ? { videoId, sort, createTime } : { videoId, sort }
}

export function countStatement(filters: Filters): Statement {
  const values: unknown[] = []
  if (!filters.words && filters.tag === undefined && filters.folderId === undefined) {
    const where = ['true']
    const add = adder(values, where)
    if (filters.scope !== null) add((p) => `organisation_id = ${p}`, filters.scope)
    if (filters.state !== undefined) add((p) => `state = ${p}`, filters.state)
    return { text: `select coalesce(sum(videos), 0) as count from video_count where ${where.join(' and ')}`, values }
  }
  const { from, where } = sourceOf(filters, values, false)
  const text = `select count(*) as count from (select from ${from} where ${where.join(' and ')} limit ${MOST_COUNTED}) as counted`
  return { text, values }
}

/** From where the keys come, under which names, and what narrows them. */
interface Source {
  from: string
  where: string[]
  id: string
  createTime: string
  title: string
  rank?: string
}

function sourceOf(filters: Filters, values: unknown[], ranked: boolean): Source {
  if (filters.words) return searchSource({ ...filters, words: filters.words }, values, ranked)
  if (filters.folderId !== undefined) return folderSource(filters, values)
  return filters.tag === undefined ? videoSource(filters, values) : tagSource(filters, values)
}

function videoSource({ scope, state }: Filters, values: unknown[]): Source {
  const where = ['true']
  const add = adder(values, where)
  if (scope !== null) add((p) => `v.organisation_id = ${p}`, scope)
  if (state !== undefined) add((p) => `v.state = ${p}`, state)
  return { from: 'video v', where, id: 'v.video_id', createTime: 'v.create_time', title: 'lower(v.title)' }
}

function tagSource({ scope, state, tag }: Filters, values: unknown[]): Source {
  const where: string[] = []
  const add = adder(values, where)
  add((p) => `t.tag = ${p}`, tag)
  if (scope !== null) add((p) => `t.organisation_id = ${p}`, scope)
  if (state !== undefined) add((p) => `t.state = ${p}`, state)
  return { from: 'video_tag t', where, id: 't.video_id', createTime: 't.create_time', title: 't.title_key' }
}

function folderSource({ folderId, state, tag }: Filters, values: unknown[]): Source {
  const where: string[] = []
  const add = adder(values, where)
  add((p) => `f.folder_id = ${p}`, folderId)
  if (state !== undefined) add((p) => `f.state = ${p}`, state)
  if (tag !== undefined) add((p) => `exists (select from video_tag t where t.video_id = f.video_id and t.tag = ${p})`, tag)
  return { from: 'folder_video f', where, id: 'f.video_id', createTime: 'f.create_time', title: 'f.title_key' }
}

/** At most `MOST_FOUND` rows that match: no more are ranked and ordered, however many there are. A rank is made where it is asked for. */
function searchSource(
  { scope, state, tag, folderId, words, windows, own }: Filters & { words: SearchWords },
  values: unknown[],
  ranked: boolean,
): Source {
  const where: string[] = []
  const filter = adder(values, where)
  const add = (value: unknown) => `$${values.push(value)}`
  // Their mark narrows them by the index already; this is a second look, which must not lead the planner to another one.
  if (scope !== null) filter((p) => `s.organisation_id + 0 = ${p}`, scope)
  if (folderId !== undefined) {
    filter((p) => `exists (select from folder_video f where f.folder_id = ${p} and f.video_id = s.video_id)`, folderId)
  }
  const rank = ranked ? `ts_rank(s.words, ${add(toQuery(words, { scope: null }))}::tsquery)` : '0::real'
  const columns = `s.video_id, s.create_time, s.title_key, ${rank} as rank`
  const matches = matchStatement(words, { scope, state, tag, windows, own }, { columns, where, limit: MOST_FOUND, add })
  const from = `(select * from (${matches}) as found limit ${MOST_FOUND}) as s`
  return { from, where: ['true'], id: 's.video_id', createTime: 's.create_time', title: 's.title_key', rank: 's.rank' }
}

function orderOf({ order, descending }: VideoListing, { id, createTime, title, rank }: Source) {
  if (order === 'relevance' && rank !== undefined) {
    return { columns: [rank, createTime, id], types: ['real', 'timestamptz', 'bigint'], direction: 'desc' }
  }
  const direction = descending ? 'desc' : 'asc'
  return order === 'title'
    ? { columns: [title, id], types: ['text', 'bigint'], direction }
    : { columns: [createTime, id], types: ['timestamptz', 'bigint'], direction }
}

function adder(values: unknown[], where: string[]) {
  return (condition: (parameter: string) => string, value: unknown) => {
    values.push(value)
    where.push(condition(`$${values.length}`))
  }
}
