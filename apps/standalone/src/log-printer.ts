/** Prints the output of all processes, each line with the name of its process. */
export interface LogPrinter {
  /** Prints a line of a child: JSON of the logger, or any other output. */
  line(service: string, text: string): void
  /** Prints a line of the supervisor. */
  own(level: string, message: string): void
}

const COLOURS: Record<string, string> = { fatal: '\x1b[31m', error: '\x1b[31m', warn: '\x1b[33m', debug: '\x1b[2m', trace: '\x1b[2m' }
const HIDDEN = new Set(['level', 'time', 'service', 'name', 'msg', 'pid', 'hostname', 'err'])
const WIDTH = 10

export function createLogPrinter(out: { write(text: string): unknown; isTTY?: boolean }): LogPrinter {
  const write = (service: string, level: string, time: string, message: string) => {
    const colour = out.isTTY ? (COLOURS[level] ?? '') : ''
    const text = `${time} ${service.padEnd(WIDTH)} ${level.padEnd(5)} ${message}`
    out.write(colour ? `${colour}${text}\x1b[0m\n` : `${text}\n`)
  }
  return {
    line(service, text) {
      const entry = parse(text)
      if (!entry) return write(service, 'error', clock(), text)
      const fields = Object.entries(entry).filter(([name]) => !HIDDEN.has(name))
      const rest = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join(' ')
      const error = entry['err'] as { stack?: string; message?: string } | undefined
      // Only faults print a stack. Transient errors print their message.
      const isFault = entry['level'] === 'error' || entry['level'] === 'fatal'
      const cause = error ? `: ${isFault ? (error.stack ?? error.message) : error.message}` : ''
      write(service, String(entry['level']), clock(String(entry['time'])), [entry['msg'], rest].filter(Boolean).join(' ') + cause)
    },
    own: (level, message) => write('vitascope', level, clock(), message),
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function clock(time = new Date().toISOString()): string {
  return time.slice(11, 19)
}
