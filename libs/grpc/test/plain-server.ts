import { GetVideoResponse, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { createGrpcServer } from '../src/index.ts'

/**
 * Server process that a test attacks. It has one method, with an empty response. To each message of its parent
 * process, it responds with its memory usage in bytes.
 */
const server = createGrpcServer({
  principals: testPrincipals('catalogue'),
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
