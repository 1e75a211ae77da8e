import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readDeliveryS3Mode, readObjectStore, readRedirectOrigin } from './object-store.ts'
import { readEnvironment } from './read-environment.ts'

const folder = mkdtempSync(join(tmpdir(), 'vitascope-config-'))
const secret = join(folder, 'secret')
writeFileSync(secret, 'a secret\n')
afterAll(() => rmSync(folder, { recursive: true }))

const read = (env: Record<string, string>) => {
  const reader = readEnvironment(env)
  const store = readObjectStore(reader)
  reader.check()
  return store
}
const s3 = {
  VITASCOPE_S3_BUCKET: 'videos',
  VITASCOPE_S3_ENDPOINT: 'http://objects:9000',
  VITASCOPE_S3_ACCESS_KEY_ID: 'me',
  VITASCOPE_S3_SECRET_KEY_FILE: secret,
}

test('objects are stored in a folder unless a bucket is configured', () => {
  expect(read({ VITASCOPE_STORAGE_DIR: '/data' })).toEqual({ folder: '/data' })
  const store = {
    endpoint: 'http://objects:9000',
    region: 'us-east-1',
    bucket: 'videos',
    accessKeyId: 'me',
    secretAccessKey: 'a secret',
    keyFiles: { secretAccessKey: secret },
  }
  expect(read({ ...s3, VITASCOPE_STORAGE_DIR: '/data' })).toEqual({ s3: { ...store, virtualHost: false } })
  expect(read({ ...s3, VITASCOPE_S3_REGION: 'eu-central-1', VITASCOPE_S3_VIRTUAL_HOST: '1' })).toMatchObject({
    s3: { region: 'eu-central-1', virtualHost: true },
  })
})

test('with the identity of the process there are no keys, and none may be set', () => {
  const { VITASCOPE_S3_ACCESS_KEY_ID: _, VITASCOPE_S3_SECRET_KEY_FILE: __, ...bucket } = s3
  const identity = { ...bucket, VITASCOPE_S3_CREDENTIALS: 'identity' }
  expect(read(identity)).toEqual({
    s3: { endpoint: 'http://objects:9000', region: 'us-east-1', bucket: 'videos', virtualHost: false },
  })
  expect(() => read({ ...s3, VITASCOPE_S3_CREDENTIALS: 'identity' })).toThrow(
    /VITASCOPE_S3_ACCESS_KEY_ID must not be set with .*\n.*VITASCOPE_S3_SECRET_KEY_FILE must not be set/,
  )
  expect(() => read({ ...identity, VITASCOPE_S3_CREDENTIALS: 'role' })).toThrow('VITASCOPE_S3_CREDENTIALS must be one of secret, identity')
})

test('writes request no encryption by default, that of the store, or a key of KMS', () => {
  const encryption = (env: Record<string, string>) => {
    const store = read({ ...s3, ...env })
    return 's3' in store ? store.s3.encryption : 'a folder'
  }
  expect(encryption({})).toBeUndefined()
  expect(encryption({ VITASCOPE_S3_ENCRYPTION: 'AES256' })).toEqual({ algorithm: 'AES256' })
  const kms = { VITASCOPE_S3_ENCRYPTION: 'aws:kms' }
  expect(encryption(kms)).toEqual({ algorithm: 'aws:kms' })
  expect(encryption({ ...kms, VITASCOPE_S3_KMS_KEY: 'alias/videos' })).toEqual({ algorithm: 'aws:kms', kmsKeyId: 'alias/videos' })
  expect(() => encryption({ VITASCOPE_S3_ENCRYPTION: 'AES256', VITASCOPE_S3_KMS_KEY: 'alias/videos' })).toThrow(
    'VITASCOPE_S3_KMS_KEY can be set only with VITASCOPE_S3_ENCRYPTION=aws:kms',
  )
  expect(() => encryption({ VITASCOPE_S3_ENCRYPTION: 'aes' })).toThrow('VITASCOPE_S3_ENCRYPTION must be one of none, AES256, aws:kms')
})

test('all missing settings are reported together', () => {
  expect(() => read({})).toThrow('VITASCOPE_STORAGE_DIR is missing')
  expect(() => read({ VITASCOPE_S3_BUCKET: 'videos' })).toThrow(
    /VITASCOPE_S3_ENDPOINT is missing\n.*VITASCOPE_S3_ACCESS_KEY_ID is missing\n.*VITASCOPE_S3_SECRET_KEY_FILE is missing/,
  )
  expect(() => read({ ...s3, VITASCOPE_S3_ENDPOINT: 'objects:9000' })).toThrow('VITASCOPE_S3_ENDPOINT must be a URL')
})

test('redirects to the bucket require the setting and a bucket', () => {
  const origin = (env: Record<string, string>) => {
    const reader = readEnvironment(env)
    const settings = [readDeliveryS3Mode(reader), readRedirectOrigin(reader)]
    reader.check()
    return settings
  }
  expect(origin({})).toEqual(['proxy', undefined])
  expect(origin(s3)).toEqual(['proxy', undefined])
  expect(origin({ ...s3, VITASCOPE_DELIVERY_S3: 'redirect' })).toEqual(['redirect', 'http://objects:9000'])
  const virtual = { ...s3, VITASCOPE_DELIVERY_S3: 'redirect', VITASCOPE_S3_VIRTUAL_HOST: '1' }
  expect(origin(virtual)).toEqual(['redirect', 'http://videos.objects:9000'])
  expect(() => origin({ VITASCOPE_DELIVERY_S3: 'redirect' })).toThrow(
    'VITASCOPE_DELIVERY_S3 can be redirect only where VITASCOPE_S3_BUCKET',
  )
  expect(() => origin({ VITASCOPE_DELIVERY_S3: 'always' })).toThrow('VITASCOPE_DELIVERY_S3')
})
