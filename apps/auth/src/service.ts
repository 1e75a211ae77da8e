import { setTimeout as delay } from 'node:timers/promises'
import { hostAndPort } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { createGrpcServer, openChannel, openIdentity, openPrincipalKeys } from '@vitascope/grpc'
import { commonRetention, createOutbox, createRetention, openPostgres, watchFailovers } from '@vitascope/postgres'
import { everyAfterDelay, type RunningService } from '@vitascope/process'
import { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { ThirdPartyTokenServiceService } from '@vitascope/proto/auth/v1/third_party_token'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { openMasterKeys } from '@vitascope/security'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { accessListHandlers } from './access-list/access-list-rpc.ts'
import { createAccessListStore } from './access-list/access-list-store.ts'
import { apiKeyHandlers } from './api-key/api-key-rpc.ts'
import { createApiKeyStore } from './api-key/api-key-store.ts'
import type { ConfiguredKey } from './api-key/authenticate.ts'
import { eventSender, warnOfExpiry } from './api-key/expiry-warning.ts'
import { createIdentityStore } from './api-key/identity-store.ts'
import { createKeyChanges } from './api-key/key-changes.ts'
import { createLastUsed } from './api-key/last-used.ts'
import { auditHandlers } from './audit/audit-rpc.ts'
import { auditRetention, createAuditStore } from './audit/audit-store.ts'
import type { AuthConfig } from './config.ts'
import { ensureInstallation, readConfiguredLookup } from './installation.ts'
import { createKeyCipher } from './key/key-encryption.ts'
import { SCHEMA } from './migrate.ts'
import { organisationReplica } from './organisation/organisation-replica.ts'
import { organisationHandlers } from './organisation/organisation-rpc.ts'
import { createOrganisationStore } from './organisation/organisation-store.ts'
import { thirdPartyTokenHandlers } from './third-party-token/third-party-token-rpc.ts'
import { createThirdPartyTokenStore } from './third-party-token/third-party-token-store.ts'
import { createPasswordHasher } from './user/password.ts'
import { userHandlers } from './user/user-rpc.ts'
import { createUserStore } from './user/user-store.ts'

export interface AuthService extends RunningService {
  address: string
  metricsPort: number
}

const HEALTH_MS = 2_000
const RETENTION_EVERY_MS = 3_600_000
const LAST_USED_MS = 30_000
const WARN_MS = 600_000
const DATABASE_RETRY_MS = 500

export async function startAuth(config: AuthConfig, log: Logger): Promise<AuthService> {
  const metrics = createMetrics('auth')
  const identity = openIdentity(config.tls, { log, metrics })
  const principals = openPrincipalKeys('auth', config.principalKeys, { log, metrics })
  const masterKeys = openMasterKeys(config.masterKeyFile, (error) =>
    log.error({ err: error }, 'loading changed master keys failed; using the previous ones'),
  )
  const box = createKeyCipher(masterKeys)
  const failovers = watchFailovers({ log, metrics })
  const db = openPostgres({ url: config.databaseUrl, schema: SCHEMA, log, failovers })
  // A pool of its own: each lane of the outbox holds a connection while it sends, and calls must
  // not wait for that.
  const outboxDb = openPostgres({ url: config.databaseUrl, schema: SCHEMA, log, failovers })
  const catalogue = openChannel(config.catalogueAddress, { service: 'catalogue', principals, identity })
  const outbox = createOutbox({ db: outboxDb, handlers: { ...organisationReplica(catalogue), ...eventSender(catalogue) }, log })

  const configured: ConfiguredKey = { lookup: undefined, isRead: false }
  const readConfigured = () =>
    readConfiguredLookup(db).then(
      (lookup) => Object.assign(configured, { lookup, isRead: true }),
      (error: unknown) => {
        configured.isRead = false
        log.warn({ err: error }, 'reading the configured system key failed; retrying')
      },
    )
  // A replica with another configured system key announces it as a key change.
  const changes = createKeyChanges({ url: config.databaseUrl, log, onChange: () => void readConfigured() })

  const server = createGrpcServer({ principals, identity, serve: config.serve, log, metrics })
  const lastUsed = createLastUsed({ db, log })
  const authentication = { identities: createIdentityStore(db), box, configured: () => configured, noteUse: lastUsed.note }
  const warn = () =>
    warnOfExpiry({ db, outbox, box, log }).catch((error: unknown) => log.warn({ err: error }, 'checking for expiring API keys failed'))
  server.implement(OrganisationServiceService, organisationHandlers(createOrganisationStore(db, outbox)))
  server.implement(UserServiceService, userHandlers(createUserStore(db), createPasswordHasher()))
  server.implement(ApiKeyServiceService, apiKeyHandlers(createApiKeyStore(db, box), authentication, changes))
  server.implement(AccessListServiceService, accessListHandlers(createAccessListStore(db)))
  server.implement(AuditServiceService, auditHandlers(createAuditStore(db)))
  server.implement(ThirdPartyTokenServiceService, thirdPartyTokenHandlers(createThirdPartyTokenStore(db, box)))

  const stopping = new AbortController()
  const timers: NodeJS.Timeout[] = []
  let retention = Promise.resolve()
  const stop = async (drainMs?: number) => {
    stopping.abort()
    for (const timer of timers) clearInterval(timer)
    server.setServing(false)
    await changes.stop()
    await server.drain(drainMs)
    await retention
    await lastUsed.flush()
    await outbox.stop()
    catalogue.close()
    identity?.close()
    principals.close()
    masterKeys.close()
    await closeMetrics()
    await Promise.all([db.close(), outboxDb.close()])
  }
  let closeMetrics = async () => {}
  try {
    const address = await server.listen(config.listen)
    server.setServing(false)
    const { port, close } = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, server.isServing)
    closeMetrics = close
    await untilDatabase(() => ensureInstallation({ db, outbox, box, source: config.systemKey, log }), log)
    await changes.start()
    await readConfigured()
    outbox.start()
    server.setServing(true)
    void warn()
    timers.push(
      setInterval(() => db.ping().then((alive) => stopping.signal.aborted || server.setServing(alive)), HEALTH_MS),
      setInterval(() => configured.isRead || void readConfigured(), HEALTH_MS),
      setInterval(() => void lastUsed.flush(), LAST_USED_MS),
      setInterval(() => void warn(), WARN_MS),
    )
    const tables = [...commonRetention(db), ...auditRetention(db, config.auditDays)]
    retention = everyAfterDelay(createRetention({ tables, metrics, log }), RETENTION_EVERY_MS, log, stopping.signal)
    log.info({ address, metrics_port: port }, 'listening')
    return { address, metricsPort: port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Waits for the database: it may start later than the service. */
async function untilDatabase(work: () => Promise<void>, log: Logger): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isDomainError(error) || error.kind !== 'unavailable') throw error
      log.warn({ err: error }, 'waiting for the database')
      await delay(DATABASE_RETRY_MS)
    }
  }
}
