import type { Api } from './api.ts'
import type { Values } from './operations.ts'
import type { SourceServer } from './source-server.ts'
import type { TestPlatform } from './test-platform.ts'
import type { Tenant, VideoRecord } from './video-steps.ts'

/** Who calls: a super user and an uploader of one organisation, a super user of another one, the system, or nobody. */
export type Who = 'owner' | 'uploader' | 'stranger' | 'system' | 'guest'

/**
 * The whole house as rows use it. Every answer to these clients was compared with the API document: its status is one that the route
 * declares, and its body fits the declared schema, with no field more.
 */
export interface House {
  platform: TestPlatform
  as: Record<Who, Api>
  owner: Tenant
  uploader: Tenant
  stranger: Tenant
  /** Somebody else's web server: `sources.answer('/a.srt', (_, response) => response.end(…))`, then `${sources.url}/a.srt`. */
  sources: SourceServer
  /** A new video of the owner's organisation that has ended as failed: its source is not there, and nothing moves in the background. */
  video(more?: Record<string, unknown>): Promise<VideoRecord>
  /** The one video of the owner's organisation that plays: made once, for rows that need files. */
  playing(): Promise<VideoRecord>
}

/** A call that must be refused, and change nothing in any database. */
export interface Refused {
  as?: Who
  method: string
  path: string
  payload?: unknown
  status: number
  /** The stable code of the problem. */
  code?: string
  /** Fields that the problem names, all of them. */
  fields?: readonly string[]
}

/** One row of the endpoint tables, shown to work. */
export interface Row {
  /** Verb and path as they stand in docs/endpoints.csv: `GET /tag/video/{video_id}`. */
  endpoint: string
  /** Calls it well and reads the effect back by another endpoint. */
  works(house: House): Promise<void>
  /** Bad calls of the endpoint: at least one foreign or missing id, and every limit at n+1 (`works` shows n−1 and n). */
  refused(house: House): Promise<readonly Refused[]>
}

/** What the generated tests of all routes need of a noun. */
export interface Samples {
  /** A payload that each writing route takes, or the one item of a list, by verb and path with `{}` for every parameter: `PUT /video/{}`. */
  payloads: Readonly<Record<string, (values: Values) => Record<string, unknown>>>
  /** Makes a record of the noun for the owner and answers its ids by the names of the public paths: `{ caption_id: '3' }`. */
  make?(house: House): Promise<Values>
}

/** What a file of `rows/` exports. */
export interface NounRows {
  noun: string
  rows: readonly Row[]
  samples: Samples
}
