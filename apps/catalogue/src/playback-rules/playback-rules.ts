import { requireValid } from '@vitascope/errors'
import { compileRules, findRestrictingClaims } from '@vitascope/playback-policy'
import type { Scope } from '@vitascope/principal'
import type { PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'

/** Rules of a video or of an organisation, in their order. */
export interface PlaybackRules {
  /** If undefined, a video uses the default of its organisation, and the default of an organisation is `allow`. */
  defaultDecision: 'allow' | 'deny' | undefined
  rules: PlaybackRule[]
}

export interface StoredPlaybackRules extends PlaybackRules {
  /** Undefined if no rules were stored yet. */
  updateTime: Date | undefined
}

/** The video or organisation that has the rules. */
export type RulesTarget = { videoId: string; scope: Scope } | { organisationId: string }

/** The rules that decide about the page of a video. */
export interface PageRules {
  videoRules: PlaybackRule[]
  organisationRules: PlaybackRule[]
  deniesByDefault: boolean
}

export interface PlaybackRulesStore {
  /** Returns the distinct rules of the public videos of a playlist, at most 25. */
  findOfPlaylist(playlistId: string, signal?: AbortSignal): Promise<PageRules[]>
  /** Throws VIDEO_NOT_FOUND if the video does not exist in its scope. */
  find(target: RulesTarget, signal?: AbortSignal): Promise<StoredPlaybackRules>
  /** Replaces all rules. Throws VIDEO_NOT_FOUND if the video does not exist in its scope. */
  set(target: RulesTarget, rules: PlaybackRules, signal?: AbortSignal): Promise<StoredPlaybackRules>
}

export const NO_RULES: StoredPlaybackRules = { defaultDecision: undefined, rules: [], updateTime: undefined }

/** Throws `invalid` with every invalid field. */
export function checkRules({ rules }: PlaybackRules): void {
  requireValid([...(compileRules(rules).errors ?? []), ...findRestrictingClaims(rules)])
}
