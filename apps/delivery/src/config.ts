import { readFileSync } from 'node:fs'
import { type AddressRules, parseAddressRules, parseTokenKeys, type TokenKeys } from '@vitascope/access'
import { type ObjectStoreSettings, readDeliveryByS3, readEnvironment, readObjectStore, readTls } from '@vitascope/config'
import { principalKey, type TlsSettings } from '@vitascope/grpc'

/** What this process can be told. */
export interface DeliveryConfig {
  listen: string
  metricsListen: string
  catalogueAddress: string
  encodingAddress: string
  principalKey: Uint8Array
  /** Between services, the gateway's requests for files included; undefined for plain text. */
  tls?: TlsSettings | undefined
  tokenKeys: TokenKeys
  objects: ObjectStoreSettings
  /** Whether files of a bucket are sent, or led to; playlists and texts are always sent. */
  byS3: 'proxy' | 'redirect'
  /** Whose `X-Forwarded-For` counts: the gateway's addresses. */
  trustedProxies: AddressRules
}

export function readDeliveryConfig(env: NodeJS.ProcessEnv): DeliveryConfig {
  const read = readEnvironment(env)
  const proxies = parseAddressRules(read.list('VITASCOPE_DELIVERY_TRUST_PROXY'), 'VITASCOPE_DELIVERY_TRUST_PROXY')
  for (const { field, message } of proxies.errors ?? []) read.refuse(`${field} ${message}`)
  const config = {
    listen: read.address('VITASCOPE_DELIVERY_LISTEN', '127.0.0.1:0'),
    metricsListen: read.address('VITASCOPE_DELIVERY_METRICS_LISTEN', '127.0.0.1:0'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    encodingAddress: read.address('VITASCOPE_ENCODING_ADDRESS'),
    principalKey: principalKey(read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE')),
    tls: readTls(read),
    objects: readObjectStore(read),
    byS3: readDeliveryByS3(read),
    trustedProxies: proxies.rules?.length ? proxies.rules : loopback(),
  }
  const tokenKeysFile = read.text('VITASCOPE_TOKEN_KEYS_FILE')
  let tokenKeys: TokenKeys | undefined
  try {
    tokenKeys = tokenKeysFile === '' ? undefined : parseTokenKeys(readFileSync(tokenKeysFile, 'utf8'))
  } catch (error) {
    read.refuse(`VITASCOPE_TOKEN_KEYS_FILE: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`)
  }
  read.check()
  if (!tokenKeys) throw new Error('check lets nothing pass without token keys')
  return { ...config, tokenKeys }
}

function loopback(): AddressRules {
  return parseAddressRules(['127.0.0.0/8', '::1']).rules ?? []
}
