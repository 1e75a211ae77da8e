import type { Logger } from '@vitascope/telemetry'
import { Cluster, Redis } from 'ioredis'

/**
 * State shared by all gateways through an optional Redis. It may be unavailable, slow, empty or
 * full at any time, and nothing depends on it.
 */
export interface SharedRedis {
  client: Redis | Cluster
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

/** Address of a server. */
export interface RedisAddress {
  host: string
  port: number
}

/** A Redis server, the master of a group that Sentinels monitor, or a Redis Cluster. */
export interface RedisSettings {
  /**
   * With Sentinels or a cluster, only its user, password, database and TLS are used, and it is optional. A cluster has
   * only database 0.
   */
  url: string | undefined
  sentinels?: SentinelSettings | undefined
  /** Some nodes of a cluster. They report the others. */
  clusterNodes?: readonly RedisAddress[] | undefined
}

export interface SentinelSettings {
  addresses: readonly RedisAddress[]
  /** Name of the group. */
  name: string
  /** Password of the Sentinels themselves. */
  password: string | undefined
}

/** Maximum time that a request waits for Redis, in milliseconds. */
export const COMMAND_TIMEOUT_MS = 50
const PAUSE_AFTER_FAILURE_MS = 1_000
const MAX_BACKOFF_MS = 2_000
const CONNECT_TIMEOUT_MS = 2_000
/** Time without a response after which the connection to a node of a cluster is closed. */
const SILENCE_TIMEOUT_MS = 2_000
/** A command follows a moved key, but does not wait for a failover. */
const CLUSTER_RETRIES = { maxRedirections: 3, retryDelayOnFailover: 10, retryDelayOnClusterDown: 10, retryDelayOnTryAgain: 10 }

export function openRedis(settings: RedisSettings, log: Logger): SharedRedis {
  const client = settings.clusterNodes ? connectToCluster(settings.clusterNodes, settings.url) : connect(settings, COMMAND_TIMEOUT_MS)
  let downUntil = 0
  let isDown = false
  const onFailure = (error: Error) => {
    downUntil = performance.now() + PAUSE_AFTER_FAILURE_MS
    if (!isDown) log.warn({ err: error }, 'Redis unavailable; limits are per gateway process')
    isDown = true
  }
  let isClosed = false
  const watch = (connection: Redis | Cluster) => {
    connection.on('error', onFailure)
    // A client also ends if the Sentinels report a failover while it connects.
    connection.on('end', () => {
      if (!isClosed) connection.connect().catch(onFailure)
    })
  }
  watch(client)
  const subscribers = new Set<Redis>()
  /** Any node of a cluster has the messages of all. When it fails, the next one is used. */
  const subscribeToNode = (nodes: readonly RedisAddress[], start: (subscriber: Redis) => void, nth = 0) => {
    const node = nodes[nth % nodes.length]
    if (isClosed || !node) return
    const subscriber = new Redis({
      ...node,
      ...credentialsOf(settings.url),
      ...connectionOptions(MAX_BACKOFF_MS),
      retryStrategy: () => null,
    })
    subscribers.add(subscriber)
    subscriber.on('error', () => {})
    subscriber.on('end', () => {
      subscribers.delete(subscriber)
      setTimeout(() => subscribeToNode(nodes, start, nth + 1), backoff(nth)).unref()
    })
    start(subscriber)
  }
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
      const start = (subscriber: Redis) => {
        // Every reconnect may follow lost messages.
        subscriber.on('ready', () => subscriber.subscribe(channel).then(onGap, onFailure))
        subscriber.on('message', (_, message) => onMessage(message))
      }
      if (settings.clusterNodes) return subscribeToNode(settings.clusterNodes, start)
      const subscriber = connect(settings, MAX_BACKOFF_MS)
      start(subscriber)
      watch(subscriber)
      subscribers.add(subscriber)
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
    ...connectionOptions(commandTimeout),
    retryStrategy: backoff,
    ...(sentinels && sentinelOptions(sentinels, isSecure(url))),
  }
  return url === undefined ? new Redis(options) : new Redis(url, options)
}

function connectionOptions(commandTimeout: number) {
  return { commandTimeout, connectTimeout: CONNECT_TIMEOUT_MS, enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResubscribe: false }
}

function connectToCluster(nodes: readonly RedisAddress[], url: string | undefined): Cluster {
  return new Cluster([...nodes], {
    redisOptions: {
      ...credentialsOf(url),
      // The first commands at a node, which read the slots and the state of the cluster, also wait for its connection.
      ...connectionOptions(CONNECT_TIMEOUT_MS),
      // The client reads the slots again after the end of a connection, but not after the timeout of a command.
      socketTimeout: SILENCE_TIMEOUT_MS,
    },
    enableOfflineQueue: false,
    clusterRetryStrategy: backoff,
    ...CLUSTER_RETRIES,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    // The names that nodes report are those of their certificates, so they are not replaced by addresses.
    ...(isSecure(url) && { dnsLookup: (address, callback) => callback(null, address) }),
  })
}

function isSecure(url: string | undefined): boolean {
  return url?.startsWith('rediss:') ?? false
}

function credentialsOf(url: string | undefined) {
  if (url === undefined) return {}
  const { username, password } = new URL(url)
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(isSecure(url) && { tls: {} }),
  }
}

function backoff(times: number): number {
  return Math.min(times * 100, MAX_BACKOFF_MS) * (0.5 + Math.random())
}

/**
 * Options for the master that the Sentinels report. A connection ends when they report another one, and when its server
 * became a replica, so that the next connection uses the new master.
 */
function sentinelOptions({ addresses, name, password }: SentinelSettings, usesTls: boolean) {
  return {
    sentinels: [...addresses],
    name,
    ...(password !== undefined && { sentinelPassword: password }),
    ...(usesTls && { enableTLSForSentinelMode: true, sentinelTLS: {}, tls: {} }),
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: backoff,
    sentinelReconnectStrategy: backoff,
    failoverDetector: true,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
}
