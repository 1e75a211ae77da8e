import type { CMCDControllerConfig } from 'hls.js'
import type { RenditionSwitch, ReportedView } from './playback.ts'

type CmcdReporter = Parameters<NonNullable<CMCDControllerConfig['reporterCallback']>>[0]

/**
 * Custom event and keys, as `POST /v2/analytics/cmcd` reads them. CMCD has no key for the height of
 * a picture.
 */
const SWITCH_EVENT = 'rendition-switch'
const FROM_HEIGHT = 'com.vitascope-from'
const TO_HEIGHT = 'com.vitascope-to'
const POSITION = 'com.vitascope-position'

/**
 * Returns the settings with which hls.js reports play states and errors (CMCD version 2, event
 * mode), a function that reports switches, and one that ends the reports. Requests for media carry
 * no CMCD, because their addresses are signed or cached.
 */
export function createCmcdConfig(
  { viewId, videoId, send }: ReportedView,
  video: HTMLVideoElement,
): { config: CMCDControllerConfig; reportSwitch: (heights: RenditionSwitch) => void; end: () => void } {
  let reporter: CmcdReporter | undefined
  const updatePosition = () => reporter?.updateCustomData({ [POSITION]: String(Math.round(video.currentTime * 1_000) / 1_000) })
  return {
    config: {
      version: 2,
      sessionId: viewId,
      contentId: videoId,
      includeKeys: [],
      eventTargets: [
        {
          // The reports are sent by `loader`, which does not use this address.
          url: '/v2/analytics/cmcd',
          events: ['ps', 'e', 'ce'],
          includeKeys: ['e', 'ts', 'sid', 'cid', 'v', 'sta', 'ec', 'cen', 'msd', FROM_HEIGHT, TO_HEIGHT, POSITION],
          interval: 0,
          batchSize: 1,
        },
      ],
      // The sender has a bounded queue and retries. hls.js would repeat failed reports with each
      // new event.
      loader: async ({ body }) => {
        if (typeof body === 'string') send(body)
        return { status: 202 }
      },
      reporterCallback(created) {
        reporter = created
        // An error or a stall has the position of the last `timeupdate`.
        video.addEventListener('timeupdate', updatePosition)
      },
    },
    reportSwitch({ from, to }) {
      reporter?.recordCustomEvent(SWITCH_EVENT, { [FROM_HEIGHT]: String(from), [TO_HEIGHT]: String(to) })
    },
    end: () => video.removeEventListener('timeupdate', updatePosition),
  }
}
