import { prettyFactory } from 'pino-pretty'

/** Prints the output of all processes, each line with the name of its process. */
export interface LogPrinter {
  /** Prints an output line of a child process: JSON of the logger, or any other text. */
  line(service: string, text: string): void
  /** Prints a line of the supervisor. */
  own(level: string, message: string): void
}

type Entry = Readonly<Record<string, unknown>>

const SERVICE_WIDTH = 13

export function createLogPrinter(out: { write(text: string): unknown; isTTY?: boolean }): LogPrinter {
  const format = prettyFactory({
    colorize: out.isTTY ?? false,
    translateTime: 'UTC:HH:MM:ss',
    singleLine: true,
    ignore: 'pid,hostname,name,service,err',
    customPrettifiers: { time: String },
    messageFormat: (entry) => `${String(entry['service']).padEnd(SERVICE_WIDTH)} ${entry['msg'] ?? ''}${formatError(entry)}`,
  })
  const print = (service: string, entry: Entry) => out.write(format({ ...entry, service }))
  return {
    line: (service, text) => print(service, parse(text) ?? { level: 'error', time: now(), msg: text }),
    own: (level, message) => print('vitascope', { level, time: now(), msg: message }),
  }
}

/** Returns the text of `err`: its stack for the levels `error` and `fatal`, otherwise its message. */
function formatError({ level, err }: Entry): string {
  const error = err as { stack?: string; message?: string } | undefined
  if (!error) return ''
  const needsStack = level === 'error' || level === 'fatal'
  return `: ${needsStack ? (error.stack ?? error.message) : error.message}`
}

function parse(text: string): Entry | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Entry
  } catch {
    return undefined
  }
}

function now(): string {
  return new Date().toISOString()
}
