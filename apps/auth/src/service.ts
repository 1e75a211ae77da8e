import { setTimeout as delay } from 'node:timers/promises'
import { hostAndPort } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { createGrpcServer, openChannel, openIdentity, principalKey } from '@vitascope/grpc'
import { createOutbox, openPostgres, sweepIdempotency, watchFailovers } from '@vitascope/postgres'
import type { RunningService } from '@vitascope/process'
import { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { ThirdPartyTokenServiceService } from '@vitascope/proto/auth/v1/third_party_token'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { accessListHandlers } from './access-list/access-list-rpc.ts'
import { createAccessListStore } from './access-list/access-list-store.ts'
import { apiKeyHandlers } from './api-key/api-key-rpc.ts'
import { createApiKeyStore } from './api-key/api-key-store.ts'
import type { ConfiguredKey } from './api-key/authenticate.ts'
import { eventSender, warnOfExpiry } from './api-key/expiry-warning.ts'
import { createIdentityStore } from './api-key/identity-store.ts'
import { createKeyBox } from './api-key/key-box.ts'
import { createKeyChanges } from './api-key/key-changes.ts'
import { createLastUsed } from './api-key/last-used.ts'
import { auditHandlers } from './audit/audit-rpc.ts'
import { createAuditStore, sweepAudit } from './audit/audit-store.ts'
import type { AuthConfig } from './config.ts'
import { ensureInstallation, readConfiguredLookup } from './installation.ts'
import { SCHEMA } from './migrate.ts'
import { organisationMirror } from './organisation/organisation-mirror.ts'
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
const SWEEP_MS = 3_600_000
const LAST_USED_MS = 30_000
const WARN_MS = 600_000
const DATABASE_RETRY_MS = 500

export async function startAuth(config: AuthConfig, log: Logger): Promise<AuthService> {
  const key = principalKey(config.principalKey)
  const metrics = createMetrics('auth')
  const identity = openIdentity(config.tls, { log, metrics })
  const box = createKeyBox(config.masterKey)
  const failovers = watchFailovers({ schema: SCHEMA, log, metrics })
  const db = openPostgres({ url: config.databaseUrl, schema: SCHEMA, log, failovers })
  // Apart: each lane of the outbox holds a connection while it sends, and the calls must not wait for that.
  const outboxDb = openPostgres({ url: config.databaseUrl, schema: SCHEMA, log, failovers })
  const catalogue = openChannel(config.catalogueAddress, { principalKey: key, peer: identity?.peer('catalogue') })
  const outbox = createOutbox({ db: outboxDb, handlers: { ...organisationMirror(catalogue), ...eventSender(catalogue) }, log })

  const configured: ConfiguredKey = { lookup: undefined, isRead: false }
  const readConfigured = () =>
    readConfiguredLookup(db).then(
      (lookup) => Object.assign(configured, { lookup, isRead: true }),
      (error: unknown) => {
        configured.isRead = false
        log.warn({ err: error }, 'the configured system key was not read: it is tried again')
      },
    )
  // Another replica that was given another system key says so by a change of keys.
  const changes = createKeyChanges({ url: config.databaseUrl, log, onChange: () => void readConfigured() })

  const server = createGrpcServer({ principalKey: key, identity, serve: config.serve, log, metrics })
  const lastUsed = createLastUsed({ db, log })
  const authentication = { identities: createIdentityStore(db), box, configured: () => configured, noteUse: lastUsed.note }
  const warn = () =>
    warnOfExpiry({ db, outbox, box, log }).catch((error: unknown) => log.warn({ err: error }, 'keys that expire soon were not looked for'))
  server.implement(OrganisationServiceService, organisationHandlers(createOrganisationStore(db, outbox)))
  server.implement(UserServiceService, userHandlers(createUserStore(db), createPasswordHasher()))
  server.implement(ApiKeyServiceService, apiKeyHandlers(createApiKeyStore(db, box), authentication, changes))
  server.implement(AccessListServiceService, accessListHandlers(createAccessListStore(db)))
  server.implement(AuditServiceService, auditHandlers(createAuditStore(db)))
  server.implement(ThirdPartyTokenServiceService, thirdPartyTokenHandlers(createThirdPartyTokenStore(db, box)))

  const stopping = new AbortController()
  const timers: NodeJS.Timeout[] = []
  const stop = async (drainMs?: number) => {
    stopping.abort()
    for (const timer of timers) clearInterval(timer)
    server.setServing(false)
    await changes.stop()
    await server.drain(drainMs)
    await lastUsed.flush()
    await outbox.stop()
    catalogue.close()
    identity?.close()
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
      setInterval(() => {
        sweepIdempotency(db).catch((error: unknown) => log.warn({ err: error }, 'old idempotency keys were not removed'))
        sweepAudit(db, config.auditDays).catch((error: unknown) => log.warn({ err: error }, 'old audit entries were not removed'))
      }, SWEEP_MS),
    )
    log.info({ address, metrics_port: port }, 'listening')
    return { address, metricsPort: port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The database may come later than the service. */
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
