import type Hls from 'hls.js'
import type { HlsConfig, Loader, LoaderCallbacks, LoaderConfiguration, LoaderContext, LoaderResponse, LoaderStats } from 'hls.js'
import { type Admission, type ConnectionRecovery, isOutageStatus } from './connection-recovery.ts'

/**
 * Result of the check of a rejected request (401, 403, 404, 410):
 * `final`: the rejection is valid, and hls.js gets the error.
 * `outage`: the check itself failed, and the request is sent again after the outage.
 */
export type RejectionVerdict = 'final' | 'outage'

export interface LoaderOptions {
  recovery: ConnectionRecovery
  /**
   * Called for each rejected request. If it replaces the source, it destroys hls.js together with
   * the loader.
   */
  checkRejection: () => Promise<RejectionVerdict>
  /** Returns the URL to request instead of the one in a playlist. */
  toCurrentUrl: (url: string) => string
}

/**
 * A request is aborted and repeated after this many seconds without a byte. Each repetition waits
 * twice as long.
 */
const IDLE_SECONDS = 6
const MAX_IDLE_SECONDS = 24

interface Outcome {
  kind: 'done' | 'outage' | 'rejected'
  /** Passes the response to hls.js. */
  deliver: () => void
}

/**
 * Returns a loader class for `hls.config.loader` that hides outages from hls.js. A request that
 * fails without a connection or a working server waits for the recovery and is then sent again.
 * hls.js regards it as one slow request. Without this loader, hls.js does not repeat requests
 * without a response: it penalises the rendition, tries all others at once, and stops loading
 * permanently.
 */
export function createLoaderClass(Library: typeof Hls, { recovery, checkRejection, toCurrentUrl }: LoaderOptions): HlsConfig['loader'] {
  const Base = Library.DefaultConfig.loader
  return class RecoveringLoader implements Loader<LoaderContext> {
    context: LoaderContext | null = null
    stats: LoaderStats
    readonly #hlsConfig: HlsConfig
    readonly #stop = new AbortController()
    #isDelivered = false
    #inner: Loader<LoaderContext>
    #callbacks: LoaderCallbacks<LoaderContext> | undefined

    constructor(hlsConfig: HlsConfig) {
      this.#hlsConfig = hlsConfig
      this.#inner = new Base(hlsConfig)
      this.stats = this.#inner.stats
    }

    load(context: LoaderContext, config: LoaderConfiguration, callbacks: LoaderCallbacks<LoaderContext>): void {
      this.context = context
      this.#callbacks = callbacks
      // The recovery repeats requests. The policy is copied because hls.js passes the same object
      // to other loaders.
      const loadPolicy = { ...config.loadPolicy, errorRetry: null, timeoutRetry: null }
      this.#loadUntilDelivered(context, { ...config, loadPolicy }).catch((error: unknown) => {
        if (this.#stop.signal.aborted) return
        callbacks.onError({ code: 0, text: String(error) }, context, null, this.stats)
      })
    }

    async #loadUntilDelivered(context: LoaderContext, config: LoaderConfiguration): Promise<void> {
      const { signal } = this.#stop
      for (let attempt = 0; ; attempt++) {
        this.#suspendTiming()
        const admission = await recovery.admit(signal)
        const outcome = await this.#attempt(context, config, computeIdleLimit(attempt), admission)
        const verdict = outcome.kind === 'rejected' ? await checkRejection() : undefined
        if (signal.aborted) return
        if (verdict === 'outage') (await recovery.admit(signal)).reportFailure()
        if (verdict === 'outage' || outcome.kind === 'outage') continue
        this.#isDelivered = true
        return outcome.deliver()
      }
    }

    #attempt(context: LoaderContext, config: LoaderConfiguration, idleLimitSeconds: number, admission: Admission): Promise<Outcome> {
      const inner = this.#renewInner()
      const callbacks = this.#callbacks
      return new Promise<Outcome>((resolve, reject) => {
        const settle = (report: () => void, outcome: Outcome) => {
          stopWatching()
          this.#stop.signal.removeEventListener('abort', abort)
          report()
          resolve(outcome)
        }
        const abort = () => {
          stopWatching()
          inner.destroy()
          admission.reportAbort()
          reject(this.#stop.signal.reason)
        }
        const fail = () => settle(admission.reportFailure, { kind: 'outage', deliver: () => {} })
        const stopWatching = watchIdle(this.stats, idleLimitSeconds, () => {
          inner.destroy()
          fail()
        })
        this.#stop.signal.addEventListener('abort', abort, { once: true })
        const onProgress = callbacks?.onProgress
        context.url = toCurrentUrl(context.url)
        inner.load(context, config, {
          ...(onProgress && { onProgress }),
          onSuccess: (response, stats, responseContext, details) =>
            settle(admission.reportSuccess, {
              kind: 'done',
              deliver: () => callbacks?.onSuccess(response, stats, responseContext, details),
            }),
          onError: (error, responseContext, details, stats) => {
            if (isOutageStatus(error.code)) return fail()
            const deliver = () => callbacks?.onError(error, responseContext, details, stats)
            settle(admission.reportSuccess, { kind: isRejection(error) ? 'rejected' : 'done', deliver })
          },
          onTimeout: fail,
        })
      })
    }

    /**
     * An hls.js loader sends one request only. All inner loaders share the statistics object that
     * hls.js references.
     */
    #renewInner(): Loader<LoaderContext> {
      const inner = new Base(this.#hlsConfig)
      const { retry } = this.stats
      inner.stats = Object.assign(this.stats, inner.stats, { retry })
      this.#inner = inner
      return inner
    }

    /**
     * hls.js measures the bandwidth by the duration of a request. The wait for the recovery must
     * not count, and must not cause an abort of a slow request.
     */
    #suspendTiming(): void {
      this.stats.loading.start = Number.POSITIVE_INFINITY
    }

    abort(): void {
      if (!this.#end()) return
      if (this.context) this.#callbacks?.onAbort?.(this.stats, this.context, null)
    }

    destroy(): void {
      this.#end()
      this.#callbacks = undefined
      this.#inner.destroy()
    }

    /** Returns whether a request was still active. */
    #end(): boolean {
      if (this.#isDelivered || this.#stop.signal.aborted) return false
      this.stats.aborted = true
      this.#stop.abort()
      return true
    }

    getCacheAge(): number | null {
      return this.#inner.getCacheAge?.() ?? null
    }

    getResponseHeader(name: string): string | null {
      return this.#inner.getResponseHeader?.(name) ?? null
    }
  }
}

function isRejection({ code }: Pick<LoaderResponse, 'code'>): boolean {
  return code === 401 || code === 403 || code === 404 || code === 410
}

function computeIdleLimit(attempt: number): number {
  return Math.min(MAX_IDLE_SECONDS, IDLE_SECONDS * 2 ** attempt)
}

/**
 * Calls `onIdle` after a number of seconds without a new byte. After a page was frozen, the frozen
 * time counts as one second, because received bytes may not be processed yet.
 */
function watchIdle(stats: LoaderStats, limitSeconds: number, onIdle: () => void): () => void {
  let [seconds, loaded, first] = [0, 0, 0]
  const timer = setInterval(() => {
    const hasMoved = stats.loaded !== loaded || stats.loading.first !== first
    ;[loaded, first] = [stats.loaded, stats.loading.first]
    seconds = hasMoved ? 0 : seconds + 1
    if (seconds < limitSeconds) return
    clearInterval(timer)
    onIdle()
  }, 1_000)
  return () => clearInterval(timer)
}
