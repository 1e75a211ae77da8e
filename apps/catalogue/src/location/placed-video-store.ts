import type { Db } from '@vitascope/postgres'
import type { TokenPage } from '@vitascope/request'
import { readTimeToken, writeTimeToken } from '../rules/time-token.ts'
import type { Location } from '../video/video-values.ts'

/** A video and its recording location. */
export interface PlacedVideo {
  videoId: string
  title: string
  location: Location
}

export interface PlacedVideoPage {
  videos: PlacedVideo[]
  /** Empty on the last page. */
  nextPageToken: string
}

export interface PlacedVideoStore {
  /** Returns the videos of an organisation that have a country or city (case-insensitive), oldest first. */
  page(
    filter: { organisationId: string; field: 'country' | 'city'; name: string },
    page: TokenPage,
    signal?: AbortSignal,
  ): Promise<PlacedVideoPage>
}

/** The expressions must be those of the indexes video_location_country and video_location_city. */
const FIELD_CONDITIONS = {
  country: `lower(location ->> 'country') = lower($2)`,
  city: `lower(location ->> 'city') = lower($2)`,
} as const

export function createPlacedVideoStore(db: Db): PlacedVideoStore {
  return {
    async page({ organisationId, field, name }, { size, token, skip }, signal) {
      signal?.throwIfAborted()
      const { createTime, id } = readTimeToken(token)
      const rows = await db.query<Row>(
        `select video_id, title, location, create_time from video
         where organisation_id = $1 and location is not null and ${FIELD_CONDITIONS[field]} and (create_time, video_id) > ($3::timestamptz, $4::bigint)
         order by create_time, video_id limit $5 offset $6`,
        [organisationId, name, createTime, id, size + 1, skip],
      )
      const page = rows.slice(0, size)
      const last = page.at(-1)
      return {
        videos: page.map(({ video_id, title, location }) => ({ videoId: video_id, title, location })),
        nextPageToken: rows.length > size && last ? writeTimeToken({ createTime: last.create_time, id: last.video_id }) : '',
      }
    },
  }
}

interface Row {
  video_id: string
  title: string
  location: Location
  create_time: Date
}
