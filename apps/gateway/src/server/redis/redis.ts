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

/** A Redis server, or the master of a group that Sentinels monitor. */
export interface RedisSettings {
  /** With Sentinels, only its user, password, database and TLS are used, and it is optional. */
  url: string | undefined
  sentinels?: SentinelSettings | undefined
}

export interface SentinelSettings {
  addresses: readonly { host: string; port: number }[]
  /** Name of the group. */
  name: string
  /** Password of the Sentinels themselves. */
  password: string | undefined
}

/** Maximum time that a request waits for Redis, in milliseconds. */
const COMMAND_TIMEOUT_MS = 50
const PAUSE_AFTER_FAILURE_MS = 1_000
const MAX_BACKOFF_MS = 2_000

export function openRedis(settings: RedisSettings, log: Logger): SharedRedis {
  const client = connect(settings, COMMAND_TIMEOUT_MS)
  let downUntil = 0
  let isDown = false
  const onFailure = (error: Error) => {
    downUntil = performance.now() + PAUSE_AFTER_FAILURE_MS
    if (!isDown) log.warn({ err: error }, 'Redis unavailable; limits are per gateway process')
    isDown = true
  }
  let isClosed = false
  const watch = (connection: Redis) => {
    connection.on('error', onFailure)
    // A client also ends if the Sentinels report a failover while it connects.
    connection.on('end', () => {
      if (!isClosed) connection.connect().catch(onFailure)
    })
  }
  watch(client)
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
      const subscriber = connect(settings, MAX_BACKOFF_MS)
      // Every reconnect may follow lost messages.
      subscriber.on('ready', () => subscriber.subscribe(channel).then(onGap, onFailure))
      subscriber.on('message', (_, message) => onMessage(message))
      watch(subscriber)
      subscribers.push(subscriber)
    },
    publish(channel, message) {
      if (client.status === 'ready') client.publish(channel, message).catch(onFailure)
    },
    close() {
      isClosed = true
      for (const connection of [client, ...subscribers]) connection.disconnect()
    },
  }
}

function connect({ url, sentinels }: RedisSettings, commandTimeout: number): Redis {
  const options = {
    commandTimeout,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    retryStrategy: backoff,
    ...(sentinels && sentinelOptions(sentinels, url?.startsWith('rediss:') ?? false)),
  }
  return url === undefined ? new Redis(options) : new Redis(url, options)
}

function backoff(times: number): number {
  return Math.min(times * 100, MAX_BACKOFF_MS) * (0.5 + Math.random())
}

/**
 * Options for the master that the Sentinels report. A connection ends when they report another one, and when its server
 * became a replica, so that the next connection uses the new master.
 */
function sentinelOptions({ addresses, name, password }: SentinelSettings, isSecure: boolean) {
  return {
    sentinels: [...addresses],
    name,
    ...(password !== undefined && { sentinelPassword: password }),
    ...(isSecure && { enableTLSForSentinelMode: true, sentinelTLS: {}, tls: {} }),
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: backoff,
    sentinelReconnectStrategy: backoff,
    failoverDetector: true,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
}
