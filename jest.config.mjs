import { existsSync } from 'node:fs'
import { join } from 'node:path'

const folders = ['apps', 'libs', 'packages', 'e2e', 'tools', 'test', 'bench'].filter((folder) =>
  existsSync(join(import.meta.dirname, folder)),
)
const long = process.env.VITASCOPE_LONG_TESTS === '1'
const cluster = process.env.VITASCOPE_TEST_CLUSTER !== undefined

export default {
  testEnvironment: '<rootDir>/tools/jest-environment.mjs',
  roots: folders.map((folder) => `<rootDir>/${folder}`),
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tools/strip.cjs' },
  testSequencer: '<rootDir>/tools/jest-sequencer.mjs',
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    ...(long ? [] : ['[.]long[.]test[.]ts$']),
    ...(cluster ? [] : ['[.](cluster|node|docker)[.]test[.]ts$']),
  ],
  modulePathIgnorePatterns: [
    '<rootDir>/apps/web/dist',
    '<rootDir>/apps/docs/dist',
    '<rootDir>/apps/console/dist',
    '<rootDir>/packages/player/dist',
    '<rootDir>/packages/sdk/dist',
    '<rootDir>/packages/cli/dist',
  ],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  globalSetup: '<rootDir>/tools/jest-setup.mjs',
  globalTeardown: '<rootDir>/tools/jest-teardown.mjs',
  // Workers keep the ES modules of earlier files. Without a limit, their heaps grow to 2.5 GB.
  workerIdleMemoryLimit: '1GB',
  watchman: false,
  testTimeout: 30_000,
}
