import { GetVideoResponse, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { createGrpcServer, principalKey } from '../src/index.ts'

/** A process that a test attacks: one method, and on any message the answer how much memory it has (bytes). */
const server = createGrpcServer({
  principalKey: principalKey(process.env['TEST_PRINCIPAL_KEY'] ?? ''),
  log: createLogger({ service: 'attacked', level: 'silent' }),
  metrics: createMetrics('attacked'),
})
server.implement({ getVideo: VideoServiceService.getVideo }, { getVideo: async () => GetVideoResponse.create() })
const address = await server.listen('127.0.0.1:0')
process.on('message', () => {
  globalThis.gc?.()
  process.send?.({ rss: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))
process.send?.({ address })
