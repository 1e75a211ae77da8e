import type { Logger } from '@vitascope/telemetry'
import { Redis } from 'ioredis'

/** What all gateways share, if there is a Redis: it may be gone, slow, empty or full at any time, and nothing depends on it. */
export interface SharedRedis {
  client: Redis
  /** False while it is away, and for a second after it failed: nobody waits for it then. */
  isUp(): boolean
  failed(error: Error): void
  /** Hears what any gateway says on a channel; `onGap` is called when something may have been missed. */
  listen(channel: string, onMessage: (message: string) => void, onGap: () => void): void
  /** Says it to all who listen; lost where Redis is away. */
  say(channel: string, message: string): void
  close(): void
}

/** Milliseconds that a request waits for it at most. */
const PATIENCE_MS = 50
const PAUSE_MS = 1_000
const LONGEST_BACKOFF_MS = 2_000

export function openRedis(url: string, log: Logger): SharedRedis {
  const client = connect(url, PATIENCE_MS)
  let downUntil = 0
  let isDown = false
  const failed = (error: Error) => {
    downUntil = performance.now() + PAUSE_MS
    if (!isDown) log.warn({ why: error.message }, 'Redis is away: every gateway counts for itself')
    isDown = true
  }
  client.on('error', failed)
  const ears: Redis[] = []
  return {
    client,
    isUp() {
      if (client.status !== 'ready' || performance.now() < downUntil) return false
      if (isDown) log.info('Redis is back')
      isDown = false
      return true
    },
    failed,
    listen(channel, onMessage, onGap) {
      const ear = connect(url, LONGEST_BACKOFF_MS)
      // Each connection may be one after others.
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
    retryStrategy: (times) => Math.min(times * 100, LONGEST_BACKOFF_MS) * (0.5 + Math.random()),
  })
}
