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
  onFailure(error: Error): void
  /** Subscribes to a channel. `onGap` is called when messages may have been missed. */
  listen(channel: string, onMessage: (message: string) => void, onGap: () => void): void
  /** Publishes a message. It is lost while Redis is unavailable. */
  publish(channel: string, message: string): void
  close(): void
}

/** Maximum time that a request waits for Redis, in milliseconds. */
const COMMAND_TIMEOUT_MS = 50
const PAUSE_AFTER_FAILURE_MS = 1_000
const MAX_BACKOFF_MS = 2_000

export function openRedis(url: string, log: Logger): SharedRedis {
  const client = connect(url, COMMAND_TIMEOUT_MS)
  let downUntil = 0
  let isDown = false
  const onFailure = (error: Error) => {
    downUntil = performance.now() + PAUSE_AFTER_FAILURE_MS
    if (!isDown) log.warn({ err: error }, 'Redis unavailable; limits are per gateway process')
    isDown = true
  }
  client.on('error', onFailure)
  const subscribers: Redis[] = []
  return {
    client,
    isUp() {
      if (client.status !== 'ready' || performance.now() < downUntil) return false
      if (isDown) log.info('Redis available again')
      isDown = false
      return true
    },
    onFailure,
    listen(channel, onMessage, onGap) {
      const subscriber = connect(url, MAX_BACKOFF_MS)
      // Every reconnect may follow lost messages.
      subscriber.on('ready', () => subscriber.subscribe(channel).then(onGap, onFailure))
      subscriber.on('message', (_, message) => onMessage(message))
      subscriber.on('error', onFailure)
      subscribers.push(subscriber)
    },
    publish(channel, message) {
      if (client.status === 'ready') client.publish(channel, message).catch(onFailure)
    },
    close() {
      for (const connection of [client, ...subscribers]) connection.disconnect()
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
