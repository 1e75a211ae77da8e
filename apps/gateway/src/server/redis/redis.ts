import type { Logger } from '@vitascope/telemetry'
import { Redis } from 'ioredis'

/**
 * State shared by all gateways through an optional Redis. It may be unavailable, slow, empty or
 * full at any time, and nothing depends on it.
 */
export interface SharedRedis {
  client: Redis
  /**
   * False while Redis is unavailable, and for a second after a failure. Requests then do not wait
   * for it.
   */
  isUp(): boolean
  failed(error: Error): void
  /** Subscribes to a channel. `onGap` is called when messages may have been missed. */
  listen(channel: string, onMessage: (message: string) => void, onGap: () => void): void
  /** Publishes a message. It is lost while Redis is unavailable. */
  say(channel: string, message: string): void
  close(): void
}

/** Maximum time that a request waits for Redis, in milliseconds. */
const TIMEOUT_MS = 50
const PAUSE_MS = 1_000
const MAX_BACKOFF_MS = 2_000

export function openRedis(url: string, log: Logger): SharedRedis {
  const client = connect(url, TIMEOUT_MS)
  let downUntil = 0
  let isDown = false
  const failed = (error: Error) => {
    downUntil = performance.now() + PAUSE_MS
    if (!isDown) log.warn({ err: error }, 'Redis unavailable; limits are per gateway process')
    isDown = true
  }
  client.on('error', failed)
  const ears: Redis[] = []
  return {
    client,
    isUp() {
      if (client.status !== 'ready' || performance.now() < downUntil) return false
      if (isDown) log.info('Redis available again')
      isDown = false
      return true
    },
    failed,
    listen(channel, onMessage, onGap) {
      const ear = connect(url, MAX_BACKOFF_MS)
      // Every reconnect may follow lost messages.
      ear.on('ready', () => ear.subscribe(channel).then(onGap, failed))
      ear.on('message', (_, message) => onMessage(message))
      ear.on('error', failed)
      ears.push(ear)
    },
    say(channel, message) {
      if (client.status === 'ready') client.publish(channel, message).catch(failed)
    },
    close() {
      for (const connection of [client, ...ears]) connection.disconnect()
    },
  }
}

function connect(url: string, commandTimeout: number): Redis {
  return new Redis(url, {
    commandTimeout,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    retryStrategy: (times) => Math.min(times * 100, MAX_BACKOFF_MS) * (0.5 + Math.random()),
  })
}
