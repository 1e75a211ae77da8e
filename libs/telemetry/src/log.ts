import { type LoggerOptions, type Logger as PinoLogger, pino } from 'pino'
import { standardOutput } from './standard-output.ts'
import { traceLogFields } from './trace.ts'

export type Logger = PinoLogger

/**
 * Creates a logger that writes one JSON object for each line to stdout. Values of secret fields are replaced. Callers
 * must log request paths as templates, because paths can contain keys and passwords. Lines within a trace have its
 * `trace_id` and `span_id`.
 */
export function createLogger(options: { service: string; level?: string }): Logger {
  const settings: LoggerOptions = {
    name: options.service,
    level: options.level ?? 'info',
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: traceLogFields,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['key', 'password', 'token', 'secret', 'authorization', '*.key', '*.password', '*.token', '*.secret', '*.authorization'],
      censor: '[secret]',
    },
  }
  return pino(settings, standardOutput())
}
