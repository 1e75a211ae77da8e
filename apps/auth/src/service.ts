import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { commonRetainedTables, createNotifications, createOutbox, createRetention } from '@vitascope/postgres'
import { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { OidcServiceService } from '@vitascope/proto/auth/v1/oidc'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { PasskeyServiceService } from '@vitascope/proto/auth/v1/passkey'
import { SessionServiceService } from '@vitascope/proto/auth/v1/session'
import { SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import { ThirdPartyTokenServiceService } from '@vitascope/proto/auth/v1/third_party_token'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { openMasterKeys } from '@vitascope/security'
import { type RunningGrpcService, type ServiceBase, type ServiceParts, startGrpcService } from '@vitascope/service'
import { createKeyFileReports, type Logger } from '@vitascope/telemetry'
import { accessListHandlers } from './access-list/access-list-rpc.ts'
import { createAccessListStore } from './access-list/access-list-store.ts'
import { apiKeyHandlers } from './api-key/api-key-rpc.ts'
import { createApiKeyStore } from './api-key/api-key-store.ts'
import type { ConfiguredKey } from './api-key/authenticate.ts'
import { eventOutboxHandlers, warnOfExpiry } from './api-key/expiry-warning.ts'
import { createIdentityStore } from './api-key/identity-store.ts'
import { createLastUsed } from './api-key/last-used.ts'
import { auditHandlers } from './audit/audit-rpc.ts'
import { auditRetention, createAuditStore } from './audit/audit-store.ts'
import type { AuthConfig } from './config.ts'
import { ensureInstallation, readConfiguredLookup } from './installation.ts'
import { KEY_CHANGED } from './key/key-change.ts'
import { createKeyCipher } from './key/key-encryption.ts'
import { createOidcProvider } from './oidc/oidc-provider.ts'
import { oidcHandlers } from './oidc/oidc-rpc.ts'
import { createOidcStore, oidcRetention } from './oidc/oidc-store.ts'
import { organisationOutboxHandlers } from './organisation/organisation-replica.ts'
import { organisationHandlers } from './organisation/organisation-rpc.ts'
import { createOrganisationStore } from './organisation/organisation-store.ts'
import { passkeyHandlers } from './passkey/passkey-rpc.ts'
import { createPasskeyStore, passkeyRetention } from './passkey/passkey-store.ts'
import { createWebAuthn } from './passkey/webauthn.ts'
import { requireRecentSignIn } from './session/session.ts'
import { sessionHandlers } from './session/session-rpc.ts'
import { createSessionStore } from './session/session-store.ts'
import { signInLinkHandlers } from './sign-in-link/sign-in-link-rpc.ts'
import { createSignInLinkStore, signInLinkOutboxHandlers, signInLinkRetention } from './sign-in-link/sign-in-link-store.ts'
import { thirdPartyTokenHandlers } from './third-party-token/third-party-token-rpc.ts'
import { createThirdPartyTokenStore } from './third-party-token/third-party-token-store.ts'
import { createPasswordCheck, createPasswordHasher } from './user/password.ts'
import { userHandlers } from './user/user-rpc.ts'
import { createUserStore } from './user/user-store.ts'

const READ_CONFIGURED_EVERY_MS = 2_000
const RETENTION_EVERY_MS = 3_600_000
const LAST_USED_EVERY_MS = 30_000
const WARN_EVERY_MS = 600_000
const DATABASE_RETRY_MS = 500

export function startAuth(config: AuthConfig, log: Logger): Promise<RunningGrpcService> {
  return startGrpcService({ name: 'auth', config, log }, (base) => assemble(config, base))
}

function assemble(config: AuthConfig, base: ServiceBase): ServiceParts {
  const { log, metrics, server } = base
  const reportsOf = createKeyFileReports({ log, metrics })
  const masterKeys = openMasterKeys(config.masterKeyFile, reportsOf('master-key'))
  const cipher = createKeyCipher(masterKeys)
  const db = base.openDatabase()
  // The outbox has its own pool, because it holds connections while it sends. Requests must not
  // wait for them.
  const outboxDb = base.openDatabase()
  const catalogue = base.openChannel('catalogue', config.catalogueAddress)
  const outbox = createOutbox({
    db: outboxDb,
    handlers: {
      ...organisationOutboxHandlers(catalogue),
      ...eventOutboxHandlers(catalogue),
      ...signInLinkOutboxHandlers(db, catalogue),
    },
    log,
  })

  const configured: ConfiguredKey = { lookup: undefined, isRead: false }
  const readConfigured = () =>
    readConfiguredLookup(db).then(
      (lookup) => Object.assign(configured, { lookup, isRead: true }),
      (error: unknown) => {
        configured.isRead = false
        log.warn({ err: error }, 'reading the configured system key failed; retrying')
      },
    )
  const readConfiguredIfMissing = async () => {
    if (!configured.isRead) await readConfigured()
  }
  // A replica that starts with another system key notifies the others of a key change.
  const changes = createNotifications({
    url: config.directDatabaseUrl ?? config.databaseUrl,
    channel: KEY_CHANGED,
    applicationName: 'vitascope-auth-listen',
    log,
    onChange: () => void readConfigured(),
  })

  const lastUsed = createLastUsed({ db, log })
  const authentication = { identities: createIdentityStore(db), cipher, configured: () => configured, recordUse: lastUsed.recordUse }
  server.implement(OrganisationServiceService, organisationHandlers(createOrganisationStore(db, outbox)))
  const hashPassword = createPasswordHasher()
  const users = createUserStore(db)
  const sessions = createSessionStore(db, cipher)
  server.implement(
    UserServiceService,
    userHandlers(users, { hashPassword, requireRecentSignIn: (call) => requireRecentSignIn(sessions, call) }),
  )
  server.implement(ApiKeyServiceService, apiKeyHandlers(createApiKeyStore(db, cipher), authentication, changes))
  const matchesPassword = createPasswordCheck()
  server.implement(SessionServiceService, sessionHandlers(sessions, matchesPassword, { users, hashPassword }))
  const passkeys = { store: createPasskeyStore(db, cipher), webAuthn: createWebAuthn(log), sessions }
  server.implement(PasskeyServiceService, passkeyHandlers(passkeys, { sessions, matchesPassword }))
  server.implement(SignInLinkServiceService, signInLinkHandlers(createSignInLinkStore(db, cipher, outbox), hashPassword))
  const oidc = config.oidc && { settings: config.oidc, provider: createOidcProvider(config.oidc, log), store: createOidcStore(db, cipher) }
  server.implement(OidcServiceService, oidcHandlers(oidc))
  server.implement(AccessListServiceService, accessListHandlers(createAccessListStore(db)))
  server.implement(AuditServiceService, auditHandlers(createAuditStore(db)))
  server.implement(ThirdPartyTokenServiceService, thirdPartyTokenHandlers(createThirdPartyTokenStore(db, cipher)))

  const tables = [
    ...commonRetainedTables(db),
    ...auditRetention(db, config.auditDays),
    ...[oidcRetention(db), passkeyRetention(db), signInLinkRetention(db)],
  ]
  return {
    db,
    async prepare() {
      await retryUntilDatabase(() => ensureInstallation({ db, outbox, cipher, source: config.systemKey, log }), log)
      await changes.start()
      await readConfigured()
    },
    start: () => outbox.start(),
    loops: [
      { run: readConfiguredIfMissing, everyMs: READ_CONFIGURED_EVERY_MS },
      { run: lastUsed.flush, everyMs: LAST_USED_EVERY_MS, isDelayed: true },
      { run: () => warnOfExpiry({ db, outbox, cipher, log }), everyMs: WARN_EVERY_MS },
      { run: createRetention({ tables, metrics, log }), everyMs: RETENTION_EVERY_MS, isDelayed: true },
    ],
    drain: () => changes.stop(),
    async finish() {
      await lastUsed.flush()
      await outbox.stop()
    },
    close: () => masterKeys.close(),
  }
}

/** Retries until the database is available, because it can start after the service. */
async function retryUntilDatabase(work: () => Promise<void>, log: Logger): Promise<void> {
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
