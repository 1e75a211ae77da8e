import { createLogger, type Logger } from '@vitascope/telemetry'

/** A logger for what a test starts: silent, unless VITASCOPE_TEST_LOG names a level to see. */
export const testLog: Logger = createLogger({ service: 'test', level: process.env['VITASCOPE_TEST_LOG'] ?? 'silent' })
