import { type LoggerOptions, type Logger as PinoLogger, pino } from 'pino'
import { standardOutput } from './standard-output.ts'

export type Logger = PinoLogger

/**
 * A logger that writes one JSON object a line to stdout. Values under names that hold secrets are replaced; paths of requests are
 * logged as templates by those who log them, because keys and passwords stand in paths.
 */
export function createLogger(options: { service: string; level?: string }): Logger {
  const settings: LoggerOptions = {
    name: options.service,
    level: options.level ?? 'info',
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['key', 'password', 'token', 'secret', 'authorization', '*.key', '*.password', '*.token', '*.secret', '*.authorization'],
      censor: '[secret]',
    },
  }
  return pino(settings, standardOutput())
}
