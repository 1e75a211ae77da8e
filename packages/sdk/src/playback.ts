import type { Caller } from './caller.ts'
import { invalidArgument } from './error.ts'
import type { Payload, Result } from './operation.ts'
import { type PlaybackKey, type PlaybackTokenClaims, signPlaybackToken } from './sign-playback-token.ts'

/** Tokens with which viewers watch protected videos. */
export class Playback {
  readonly #api: Caller
  readonly #key: PlaybackKey | undefined

  /** @internal */
  constructor(api: Caller, key: PlaybackKey | undefined) {
    this.#api = api
    this.#key = key
  }

  /**
   * Returns a token that is signed on this machine, without a request. Uses `playbackKey` of the client
   * unless `key` is given. See `signPlaybackToken` for its use and errors.
   */
  async sign(claims: PlaybackTokenClaims, key: PlaybackKey | undefined = this.#key): Promise<string> {
    if (key === undefined) throw invalidArgument('Signing a token requires the option playbackKey.')
    return signPlaybackToken(key, claims)
  }

  /** Returns a token of the platform for a video. `expires_in` is 1 to 86,400 seconds. */
  createToken(videoId: string, fields: Payload<'createVideoToken'>): Promise<Result<'createVideoToken'>> {
    return this.#api.call('createVideoToken', { path: { video_id: videoId }, payload: fields })
  }

  /** Registers the public key of a playback key. Requires `organisationId`, and the key of a super user. */
  registerKey(fields: Payload<'createPlaybackKey'>): Promise<Result<'createPlaybackKey'>> {
    return this.#api.call('createPlaybackKey', { payload: fields })
  }
}
