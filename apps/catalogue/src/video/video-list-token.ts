import { checkText, decodePageToken, encodePageToken, invalidPageToken, isId } from '@vitascope/request'
import type { Key, VideoQuery } from './video-query.ts'

type Order = Pick<VideoQuery, 'order' | 'descending'>

/** Returns the page token for the position after a key. It is only valid for lists in the same order. */
export function writeToken({ order, descending }: Order, { sort, createTime, videoId }: Key): string {
  const text = sort instanceof Date ? String(sort.getTime()) : sort
  return encodePageToken([order, String(descending), text, createTime ? String(createTime.getTime()) : '', videoId])
}

export function readToken({ order, descending }: Order, token: string): Key | undefined {
  const values = decodePageToken(token, 5)
  if (!values) return undefined
  const [tokenOrder, tokenDescending, sort = '', time = '', videoId = ''] = values
  const isValid =
    tokenOrder === order &&
    tokenDescending === String(descending) &&
    isId(videoId) &&
    SORT_VALUE_CHECKS[order](sort) &&
    (order === 'relevance' ? isTime(time) : time === '')
  if (!isValid) throw invalidPageToken()
  if (order === 'relevance') return { videoId, sort, createTime: new Date(Number(time)) }
  return { videoId, sort: order === 'title' ? sort : new Date(Number(sort)) }
}

const SORT_VALUE_CHECKS: Record<VideoQuery['order'], (sort: string) => boolean> = {
  create_time: isTime,
  title: (sort) => checkText('', sort, { max: 1_000 }).length === 0,
  // The text format of `real` in PostgreSQL.
  relevance: (sort) => /^\d(\.\d{1,12})?(e-\d{1,2})?$/.test(sort),
}

function isTime(text: string): boolean {
  return /^\d{1,15}$/.test(text)
}
