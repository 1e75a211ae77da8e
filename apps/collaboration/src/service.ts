import { commonRetainedTables, createRetention } from '@vitascope/postgres'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { ClipServiceService } from '@vitascope/proto/collaboration/v1/clip'
import { EntryServiceService } from '@vitascope/proto/collaboration/v1/entry'
import { GuestReviewServiceService } from '@vitascope/proto/collaboration/v1/guest_review'
import { type RunningGrpcService, startGrpcService } from '@vitascope/service'
import type { Logger } from '@vitascope/telemetry'
import { createGuestVideos } from './clients/guest-videos.ts'
import { createUserSummaries } from './clients/user-summaries.ts'
import { createVideoSummaries } from './clients/video-summaries.ts'
import type { CollaborationConfig } from './config.ts'
import { clipHandlers } from './entry/clip-rpc.ts'
import { createClipStore } from './entry/clip-store.ts'
import { entryHandlers } from './entry/entry-rpc.ts'
import { createEntryStore } from './entry/entry-store.ts'
import { createEntrySweep } from './entry/entry-sweep.ts'
import { createGuestLinkStore } from './guest/guest-link-store.ts'
import { guestReviewHandlers } from './guest/guest-review-rpc.ts'

/** Each run checks up to a thousand entries. */
const SWEEP_EVERY_MS = 10_000
const RETENTION_EVERY_MS = 3_600_000

export function startCollaboration(config: CollaborationConfig, log: Logger): Promise<RunningGrpcService> {
  return startGrpcService({ name: 'collaboration', config, log }, ({ server, metrics, openDatabase, openChannel }) => {
    const db = openDatabase()
    const catalogue = openChannel('catalogue', config.catalogueAddress)
    const summaries = catalogue.client(VideoSummaryServiceService)
    const clients = {
      videos: createVideoSummaries(summaries),
      users: createUserSummaries(openChannel('auth', config.authAddress).client(UserServiceService)),
    }
    const entries = createEntryStore(db)
    const clips = createClipStore(db)
    server.implement(EntryServiceService, entryHandlers({ entries, ...clients }))
    server.implement(ClipServiceService, clipHandlers({ clips, entries, ...clients }))
    const guestVideos = createGuestVideos(summaries, catalogue.client(VideoServiceService))
    server.implement(
      GuestReviewServiceService,
      guestReviewHandlers({ links: createGuestLinkStore(db), clips, entries, guestVideos, ...clients }),
    )
    return {
      db,
      loops: [
        { run: createEntrySweep(entries, clients, log).run, everyMs: SWEEP_EVERY_MS, isDelayed: true },
        { run: createRetention({ tables: commonRetainedTables(db), metrics, log }), everyMs: RETENTION_EVERY_MS, isDelayed: true },
      ],
    }
  })
}
