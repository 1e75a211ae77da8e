const REPORTS_URL = '/v2/analytics/cmcd'
const CONTENT_TYPE = 'application/cmcd'
/** Lines that are added within this time are sent together. */
const SEND_DELAY_MS = 3_000
/** First delay between two attempts during an outage. Each delay is twice the previous one. */
const MIN_RETRY_DELAY_MS = 10_000
const MAX_RETRY_DELAY_MS = 60_000
const TIMEOUT_MS = 15_000
/**
 * Maximum number of lines in the queue and in a request. Beyond it, the newest lines are dropped.
 */
export const MAX_LINES = 100

/**
 * Sends lines of CMCD reports, and retries until the server has stored or finally rejected them.
 */
export interface ReportSender {
  /** Adds the lines of a report. */
  send(report: string): void
  /**
   * Sends all lines at once by beacon, because the page may be closed. Lines of an active request
   * are sent by both. The server ignores lines that arrive twice.
   */
  sendBeacon(): void
  /** Stops the timers. */
  stop(): void
}

export interface ReportTransport {
  /** Resolves with the status of the response, or 0 without one. */
  post(body: string): Promise<number>
  /** Returns whether the browser will send the text. */
  beacon(body: string): boolean
}

export function createReportSender(transport: ReportTransport = browserTransport): ReportSender {
  let lines: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let retryDelayMs = MIN_RETRY_DELAY_MS
  let isSending = false
  let isStopped = false

  const schedule = (delayMs: number) => {
    if (isStopped || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      void flush()
    }, delayMs)
  }
  const flush = async () => {
    if (isSending || lines.length === 0) return
    isSending = true
    const sent = lines
    const status = await transport.post(sent.join('\n'))
    isSending = false
    if (status === 0 || status === 408 || status === 429 || status >= 500) {
      schedule(retryDelayMs)
      retryDelayMs = Math.min(2 * retryDelayMs, MAX_RETRY_DELAY_MS)
      return
    }
    retryDelayMs = MIN_RETRY_DELAY_MS
    // The server has stored these lines, or it will never accept them.
    lines = lines.slice(sent.length)
    if (lines.length > 0) schedule(SEND_DELAY_MS)
  }
  const sendBeacon = () => {
    if (lines.length > 0 && transport.beacon(lines.join('\n')) && !isSending) lines = []
  }
  return {
    send(report) {
      const added = report.split('\n').filter((line) => line !== '')
      lines = [...lines, ...added].slice(0, MAX_LINES)
      schedule(SEND_DELAY_MS)
    },
    sendBeacon,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

const browserTransport: ReportTransport = {
  async post(body) {
    try {
      const response = await fetch(REPORTS_URL, {
        method: 'POST',
        headers: { 'content-type': CONTENT_TYPE },
        body,
        keepalive: true,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return response.status
    } catch {
      // The network failed or the request timed out. Both may be temporary.
      return 0
    }
  },
  beacon: (body) => navigator.sendBeacon(REPORTS_URL, new Blob([body], { type: CONTENT_TYPE })),
}
