import type { Scope } from '@vitascope/principal'
import type { Status } from '../publishing/media/status.ts'
import type { Key, VideoQuery } from './video-query.ts'
import { createMatchStatement, type SearchWords, toTsQuery } from './video-search.ts'

/** The resolved filters of a list. */
export interface Filters {
  scope: Scope
  state?: Status['state'] | undefined
  tag?: string | undefined
  /** A folder of an organisation in `scope`. */
  folderId?: string | undefined
  words?: SearchWords
  /** Restrictions for a search with very many matches. See `IndexFilters`. */
  windows?: readonly number[]
  videoWordsOnly?: 'any' | 'newest'
}

/** Maximum number of rows that are counted for a tag or a folder. */
const MAX_COUNTED = 10_000
/** Maximum number of videos that a search returns. */
export const MAX_MATCHES = 1_000

interface Statement {
  text: string
  values: unknown[]
}

/** The part of a list to read. */
export interface KeyPosition {
  after: Key | undefined
  limit: number
  skip: number
  /**
   * If true, the text contains the limit. By default, the limit is a parameter. The planner then
   * expects a tenth of all rows, and plans each call again. Each limit in a text is another prepared
   * statement.
   */
  isLimitConstant?: boolean
}

/**
 * Returns the statement for the keys of a page. It reads one narrow index or table, so that skipped rows
 * are cheap. Its text contains only constants. Input of callers is passed as values.
 */
export function createKeyStatement(
  videoQuery: VideoQuery,
  filters: Filters,
  { after, limit, skip, isLimitConstant = false }: KeyPosition,
): Statement {
  const values: unknown[] = []
  const source = selectSource(filters, values, videoQuery.order === 'relevance')
  const { columns, types, direction } = toOrder(videoQuery, source)
  const where = [...source.where]
  if (after) {
    const cursorValues = [after.sort, ...(after.createTime ? [after.createTime] : []), after.videoId].map((value, index) => {
      values.push(value)
      return `$${values.length}::${types[index]}`
    })
    where.push(`(${columns.join(', ')}) ${direction === 'desc' ? '<' : '>'} (${cursorValues.join(', ')})`)
  }
  const addValue = (value: number) => `$${values.push(value)}`
  const limits = [`limit ${isLimitConstant ? limit : addValue(limit)}`, ...(skip > 0 ? [`offset ${addValue(skip)}`] : [])].join(' ')
  const [sort, second] = columns
  const selected = columns.length === 3 ? `${sort}::text as sort, ${second} as create_time` : `${sort} as sort`
  const text = `select ${source.id} as video_id, ${selected} from ${source.from} where ${where.join(' and ')}
    order by ${columns.map((column) => `${column} ${direction}`).join(', ')} ${limits}`
  return { text, values }
}

export function toKey({ order }: VideoQuery, row: { video_id: string; sort: Date | string; create_time?: Date }): Key {
  const { video_id: videoId, sort, create_time: createTime } = row
  return order === 'relevance' && createTime ? { videoId, sort, createTime } : { videoId, sort }
}

/**
 * Returns the statement for the number of videos of a list. It counts at most 10,000 rows of a tag or a
 * folder, and at most `MAX_MATCHES` of a search.
 */
export function createCountStatement(filters: Filters): Statement {
  const values: unknown[] = []
  if (!filters.words && filters.tag === undefined && filters.folderId === undefined) {
    const where = ['true']
    const add = createConditionAdder(values, where)
    if (filters.scope !== null) add((p) => `organisation_id = ${p}`, filters.scope)
    if (filters.state !== undefined) add((p) => `state = ${p}`, filters.state)
    return { text: `select coalesce(sum(videos), 0) as count from video_count where ${where.join(' and ')}`, values }
  }
  const { from, where } = selectSource(filters, values, false)
  const text = `select count(*) as count from (select from ${from} where ${where.join(' and ')} limit ${MAX_COUNTED}) as counted`
  return { text, values }
}

/** The table, column names and conditions of a statement that reads keys. */
interface Source {
  from: string
  where: string[]
  id: string
  createTime: string
  title: string
  rank?: string
}

function selectSource(filters: Filters, values: unknown[], isRanked: boolean): Source {
  if (filters.words) return searchSource({ ...filters, words: filters.words }, values, isRanked)
  if (filters.folderId !== undefined) return folderSource(filters, values)
  return filters.tag === undefined ? videoSource(filters, values) : tagSource(filters, values)
}

function videoSource({ scope, state }: Filters, values: unknown[]): Source {
  const where = ['true']
  const add = createConditionAdder(values, where)
  if (scope !== null) add((p) => `v.organisation_id = ${p}`, scope)
  if (state !== undefined) add((p) => `v.state = ${p}`, state)
  return { from: 'video v', where, id: 'v.video_id', createTime: 'v.create_time', title: 'lower(v.title)' }
}

function tagSource({ scope, state, tag }: Filters, values: unknown[]): Source {
  const where: string[] = []
  const add = createConditionAdder(values, where)
  add((p) => `t.tag = ${p}`, tag)
  if (scope !== null) add((p) => `t.organisation_id = ${p}`, scope)
  if (state !== undefined) add((p) => `t.state = ${p}`, state)
  return { from: 'video_tag t', where, id: 't.video_id', createTime: 't.create_time', title: 't.title_key' }
}

function folderSource({ folderId, state, tag }: Filters, values: unknown[]): Source {
  const where: string[] = []
  const add = createConditionAdder(values, where)
  add((p) => `f.folder_id = ${p}`, folderId)
  if (state !== undefined) add((p) => `f.state = ${p}`, state)
  if (tag !== undefined) add((p) => `exists (select from video_tag t where t.video_id = f.video_id and t.tag = ${p})`, tag)
  return { from: 'folder_video f', where, id: 'f.video_id', createTime: 'f.create_time', title: 'f.title_key' }
}

/** Reads, ranks and sorts at most `MAX_MATCHES` matching rows. Computes a rank only if `isRanked` is true. */
function searchSource(
  { scope, state, tag, folderId, words, windows, videoWordsOnly }: Filters & { words: SearchWords },
  values: unknown[],
  isRanked: boolean,
): Source {
  const where: string[] = []
  const filter = createConditionAdder(values, where)
  const add = (value: unknown) => `$${values.push(value)}`
  // The search words include the organisation (see `IndexFilters`), so the index already filters by it. This
  // condition is a second check. `+ 0` prevents the planner from using another index.
  if (scope !== null) filter((p) => `s.organisation_id + 0 = ${p}`, scope)
  if (folderId !== undefined) {
    filter((p) => `exists (select from folder_video f where f.folder_id = ${p} and f.video_id = s.video_id)`, folderId)
  }
  const rank = isRanked ? `ts_rank(s.words, ${add(toTsQuery(words, { scope: null }))}::tsquery)` : '0::real'
  const columns = `s.video_id, s.create_time, s.title_key, ${rank} as rank`
  const matches = createMatchStatement(words, { scope, state, tag, windows, videoWordsOnly }, { columns, where, limit: MAX_MATCHES, add })
  const from = `(select * from (${matches}) as found limit ${MAX_MATCHES}) as s`
  return { from, where: ['true'], id: 's.video_id', createTime: 's.create_time', title: 's.title_key', rank: 's.rank' }
}

function toOrder({ order, descending }: VideoQuery, { id, createTime, title, rank }: Source) {
  if (order === 'relevance' && rank !== undefined) {
    return { columns: [rank, createTime, id], types: ['real', 'timestamptz', 'bigint'], direction: 'desc' }
  }
  const direction = descending ? 'desc' : 'asc'
  return order === 'title'
    ? { columns: [title, id], types: ['text', 'bigint'], direction }
    : { columns: [createTime, id], types: ['timestamptz', 'bigint'], direction }
}

function createConditionAdder(values: unknown[], where: string[]) {
  return (condition: (parameter: string) => string, value: unknown) => {
    values.push(value)
    where.push(condition(`$${values.length}`))
  }
}
