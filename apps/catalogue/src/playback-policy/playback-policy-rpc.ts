import { notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import type { PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { isId } from '@vitascope/request'
import type { PresentationPolicies } from '../presentation/presentation-policy.ts'
import type { PlaybackPolicyStore } from './playback-policy.ts'

export function playbackPolicyHandlers(
  policies: PlaybackPolicyStore,
  presentations: PresentationPolicies,
): Handlers<typeof PlaybackPolicyServiceService> {
  return {
    async getPlaybackPolicy({ videoId }, { principal, signal }) {
      requireService(principal)
      const policy = isId(videoId) ? await policies.find(videoId, signal) : undefined
      if (!policy) throw notFound('video', videoId)
      return policy
    },
    async getPresentationPolicy({ presentationId }, { principal, signal }) {
      requireService(principal)
      const policy = isId(presentationId) ? await presentations.find(presentationId, signal) : undefined
      if (!policy) throw notFound('presentation', presentationId)
      return policy
    },
  }
}
