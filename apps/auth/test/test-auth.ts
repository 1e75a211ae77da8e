import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Call, type Client, openChannel, type Principal, serviceCall, type UserKind } from '@vitascope/grpc'
import { type Db, openPostgres } from '@vitascope/postgres'
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
import type { RunningGrpcService } from '@vitascope/service'
import { createTestDatabase, masterKeyFile, testLog } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import type { AuthConfig } from '../src/config.ts'
import { startAuth } from '../src/service.ts'

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))
export const SYSTEM_KEY = 'the-system-key-of-these-tests'

export interface TestDatabase {
  url: string
  db: Db
  drop(): Promise<void>
}

export async function openTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createTestDatabase({ migrations: MIGRATIONS, schema: 'auth' })
  const db = openPostgres({ url, schema: 'auth', log: testLog })
  return {
    url,
    db,
    drop: async () => {
      await db.close()
      await drop()
    },
  }
}

export interface TestAuth {
  service: RunningGrpcService
  organisations: Client<typeof OrganisationServiceService>
  users: Client<typeof UserServiceService>
  apiKeys: Client<typeof ApiKeyServiceService>
  accessList: Client<typeof AccessListServiceService>
  audit: Client<typeof AuditServiceService>
  sessions: Client<typeof SessionServiceService>
  signInLinks: Client<typeof SignInLinkServiceService>
  oidc: Client<typeof OidcServiceService>
  passkeys: Client<typeof PasskeyServiceService>
  thirdPartyTokens: Client<typeof ThirdPartyTokenServiceService>
  stop(): Promise<void>
}

export async function startTestAuth(databaseUrl: string, more: Partial<AuthConfig> = {}): Promise<TestAuth> {
  const service = await startAuth(createConfig(databaseUrl, more), testLog)
  const channel = openChannel(service.address, { service: 'auth', principals: testPrincipals() })
  return {
    service,
    organisations: channel.client(OrganisationServiceService),
    users: channel.client(UserServiceService),
    apiKeys: channel.client(ApiKeyServiceService),
    accessList: channel.client(AccessListServiceService),
    audit: channel.client(AuditServiceService),
    sessions: channel.client(SessionServiceService),
    signInLinks: channel.client(SignInLinkServiceService),
    oidc: channel.client(OidcServiceService),
    passkeys: channel.client(PasskeyServiceService),
    thirdPartyTokens: channel.client(ThirdPartyTokenServiceService),
    stop: async () => {
      channel.close()
      await service.stop()
    },
  }
}

export function createConfig(databaseUrl: string, more: Partial<AuthConfig> = {}): AuthConfig {
  return {
    listen: '127.0.0.1:0',
    metricsListen: '127.0.0.1:0',
    databaseUrl,
    principalKeys: testKeyFiles('auth'),
    masterKeyFile: masterKeyFile('a master key of these tests, long enough'),
    systemKey: { value: SYSTEM_KEY, file: undefined },
    // No process listens on this address: notifications of the catalogue stay in the outbox.
    catalogueAddress: '127.0.0.1:9',
    auditDays: 400,
    ...more,
  }
}

export function service(): Call {
  return serviceCall('test', randomUUID())
}

/** Returns a call by a user. No key has the default key id. */
export function as(userType: UserKind, organisationId = '1', userId = '999999', keyId = '0'): Call {
  return by({ kind: 'user', keyId, userId, organisationId, userType })
}

export function by(principal: Principal): Call {
  return { ...service(), principal }
}

/** Adds an idempotency key to a call. Calls with the same key are retries of one request. */
export function withIdempotency(call: Call, key: string): Call {
  return { ...call, idempotency: { key: key.repeat(64).slice(0, 64), fingerprint: 'f'.repeat(64) } }
}
