import type { Caller } from './caller.ts'
import type { Payload, Result, Schemas } from './operation.ts'
import type { PageIterator } from './page-iterator.ts'

/** Playlists: ordered lists of at most 25 videos. */
export class Playlists {
  readonly #api: Caller

  /** @internal */
  constructor(api: Caller) {
    this.#api = api
  }

  /** Creates an empty playlist. Requires `organisationId` of the client. */
  create(fields: Payload<'createPlaylist'> = {}): Promise<Result<'createPlaylist'>> {
    return this.#api.call('createPlaylist', { payload: fields })
  }

  /** Returns a playlist with its videos. Throws `playlist_not_found`. */
  get(playlistId: string): Promise<Schemas['Playlist']> {
    return this.#api.call('getPlaylist', { path: { playlist_id: playlistId } })
  }

  /** Lists the playlists of the organisation. Requires `organisationId` of the client. */
  list(): PageIterator<Schemas['PlaylistEntry'], Result<'listPlaylists'>> {
    return this.#api.list('listPlaylists')
  }

  /** Changes the fields that are sent. `videos` replaces all videos. Throws `playlist_not_found`. */
  async update(playlistId: string, fields: Payload<'updatePlaylist'>): Promise<void> {
    await this.#api.call('updatePlaylist', { path: { playlist_id: playlistId }, payload: fields })
  }

  /** Adds a video at the end, and returns the order of the videos. Throws `playlist_full`. */
  addVideo(playlistId: string, videoId: string): Promise<Result<'addVideoToPlaylist'>> {
    return this.#api.call('addVideoToPlaylist', { path: { playlist_id: playlistId, video_id: videoId } })
  }

  /** Removes a video. `position` selects one of several entries of the same video. */
  removeVideo(playlistId: string, videoId: string, position?: number): Promise<Result<'removeVideoFromPlaylist'>> {
    const query = position === undefined ? {} : { position }
    return this.#api.call('removeVideoFromPlaylist', { path: { playlist_id: playlistId, video_id: videoId }, query })
  }
}
