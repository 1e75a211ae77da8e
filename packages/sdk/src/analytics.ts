import type { Caller } from './caller.ts'
import type { Query, Result } from './operation.ts'
import type { ItemOf, PageIterator } from './page-iterator.ts'

/**
 * Reports about views. All methods require `organisationId` of the client. `date_start` and `date_end`
 * are days in UTC (`YYYY-MM-DD`). Throw `too_many_reports` while other reports are active.
 */
export class Analytics {
  readonly #api: Caller

  /** @internal */
  constructor(api: Caller) {
    this.#api = api
  }

  /** Returns the totals of a period. */
  views(query: Query<'getViews'> = {}): Promise<Result<'getViews'>> {
    return this.#api.call('getViews', { query })
  }

  /** Lists a row for each day with views. */
  viewsByDay(query: Query<'listViewsByDay'> = {}): PageIterator<ItemOf<Result<'listViewsByDay'>>, Result<'listViewsByDay'>> {
    return this.#api.list('listViewsByDay', { query })
  }

  /** Lists a row for each video with views. */
  viewsByVideo(query: Query<'listViewsByVideo'> = {}): PageIterator<ItemOf<Result<'listViewsByVideo'>>, Result<'listViewsByVideo'>> {
    return this.#api.list('listViewsByVideo', { query })
  }

  /** Lists a row for each value of a dimension, such as `country`. */
  viewsByDimension(query: Query<'listViewsByDimension'> = {}): Promise<Result<'listViewsByDimension'>> {
    return this.#api.call('listViewsByDimension', { query })
  }

  /** Lists a row for each value of a dimension, of one video. */
  videoViewsByDimension(videoId: string, query: Query<'listVideoViewsByDimension'> = {}): Promise<Result<'listVideoViewsByDimension'>> {
    return this.#api.call('listVideoViewsByDimension', { path: { video_id: videoId }, query })
  }

  /** Returns the totals of one video. */
  videoViews(videoId: string, query: Query<'getVideoViews'> = {}): Promise<Result<'getVideoViews'>> {
    return this.#api.call('getVideoViews', { path: { video_id: videoId }, query })
  }

  /** Returns how often each part of a video was watched. */
  heatmap(videoId: string, query: Query<'getVideoHeatmap'> = {}): Promise<Result<'getVideoHeatmap'>> {
    return this.#api.call('getVideoHeatmap', { path: { video_id: videoId }, query })
  }

  /** Returns the views of the last minutes. */
  realtime(): Promise<Result<'getRealtimeViews'>> {
    return this.#api.call('getRealtimeViews')
  }

  /** Returns all views of a period as lines of JSON, or as CSV, by language or by a dimension. */
  export(query: Query<'exportAnalytics'> = {}): Promise<string> {
    return this.#api.call('exportAnalytics', { query })
  }
}
