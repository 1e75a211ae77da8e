import type { Api } from './api.ts'
import type { Values } from './operations.ts'
import type { SourceServer } from './source-server.ts'
import type { TestPlatform } from './test-platform.ts'
import type { Tenant, VideoRecord } from './video-steps.ts'

/**
 * Caller: a super user and an uploader of one organisation, a super user of another one, the
 * system, or a guest.
 */
export type CallerName = 'owner' | 'uploader' | 'otherTenant' | 'system' | 'guest'

/**
 * The whole platform for endpoint tests. Each response to these clients is validated against the
 * API document: its status must be declared by the route, and its body must match the declared
 * schema without further fields.
 */
export interface Fixture {
  platform: TestPlatform
  clients: Record<CallerName, Api>
  owner: Tenant
  uploader: Tenant
  otherTenant: Tenant
  /**
   * External web server: `sources.setHandler('/a.srt', (_, response) => response.end(…))`, then
   * `${sources.url}/a.srt`.
   */
  sources: SourceServer
  /**
   * Creates a video of the owner's organisation that has failed: its source does not exist, so
   * nothing changes in the background.
   */
  video(fields?: Record<string, unknown>): Promise<VideoRecord>
  /**
   * Returns the only playable video of the owner's organisation. It is created once, for tests that
   * require files.
   */
  playing(): Promise<VideoRecord>
}

/** A call that must be rejected without a change of any database. */
export interface RejectedCall {
  caller?: CallerName
  method: string
  path: string
  payload?: unknown
  /** Parts of a multipart form in order, instead of `payload`. A `Blob` is a file. */
  form?: readonly (readonly [name: string, value: string | Blob])[]
  status: number
  /** Code of the problem document. */
  code?: string
  /** All fields that the problem document names. */
  fields?: readonly string[]
}

/** Tests of one endpoint. */
export interface Row {
  /** Verb and path as in docs/endpoints.csv: `GET /tag/video/{video_id}`. */
  endpoint: string
  /** Calls the endpoint successfully and reads the effect by another endpoint. */
  works(fixture: Fixture): Promise<void>
  /**
   * Invalid calls of the endpoint: at least one foreign or missing id, and every limit at n+1
   * (`works` covers n−1 and n).
   */
  rejectedCalls(fixture: Fixture): Promise<readonly RejectedCall[]>
}

/** Test data that the generated tests of all routes require for a noun. */
export interface Samples {
  /**
   * A payload, or a list item, that each writing route accepts, by verb and path with `{}` for
   * every parameter: `PUT /video/{}`.
   */
  payloads: Readonly<Record<string, (values: Values) => Record<string, unknown>>>
  /**
   * Creates a record of the noun for the owner. Returns its ids by public parameter name: `{
   * caption_id: '3' }`.
   */
  make?(fixture: Fixture): Promise<Values>
}

/** Export of a file with endpoint tests. */
export interface NounRows {
  noun: string
  rows: readonly Row[]
  samples: Samples
}
