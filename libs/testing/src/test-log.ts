import { createLogger, type Logger } from '@vitascope/telemetry'

/** A logger for tests: silent unless VITASCOPE_TEST_LOG is set to a level. */
export const testLog: Logger = createLogger({ service: 'test', level: process.env['VITASCOPE_TEST_LOG'] ?? 'silent' })
