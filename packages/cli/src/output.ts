/** Output of the commands. Tests replace it. */
export interface Output {
  /** Results. */
  print(line: string): void
  /** Progress and notes. */
  note(line: string): void
  /** Replaces the last line of the terminal; does nothing without a terminal. */
  status(line: string): void
  /** True if results are printed as JSON. */
  isJson: boolean
}

export function createOutput(isJson: boolean): Output {
  const isTerminal = process.stderr.isTTY === true
  let hasStatus = false
  const clear = () => {
    if (hasStatus) process.stderr.write('\r\u001b[K')
    hasStatus = false
  }
  return {
    isJson,
    print(line) {
      clear()
      process.stdout.write(`${line}\n`)
    },
    note(line) {
      clear()
      process.stderr.write(`${line}\n`)
    },
    status(line) {
      if (!isTerminal) return
      clear()
      process.stderr.write(line)
      hasStatus = true
    },
  }
}

/** Prints one object: as JSON, or a line for each field. */
export function printObject(output: Output, object: Readonly<Record<string, unknown>>): void {
  if (output.isJson) {
    output.print(JSON.stringify(object))
    return
  }
  const width = Math.max(0, ...Object.keys(object).map((name) => name.length))
  for (const [name, value] of Object.entries(object)) output.print(`${name.padEnd(width)}  ${toText(value)}`)
}

/** Prints rows: each as a line of JSON, or a table with the columns. */
export function printRows(output: Output, rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): void {
  if (output.isJson) {
    for (const row of rows) output.print(JSON.stringify(row))
    return
  }
  const cells = [columns.map((column) => column.replaceAll('_', ' ')), ...rows.map((row) => columns.map((column) => toText(row[column])))]
  const widths = columns.map((_, nth) => Math.max(...cells.map((line) => line[nth]?.length ?? 0)))
  for (const line of cells) {
    output.print(
      line
        .map((cell, nth) => cell.padEnd(widths[nth] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

/** Returns the text of a value without control characters, which a terminal would interpret. */
function toText(value: unknown): string {
  const text = value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replaceAll(/\p{Cc}/gu, ' ')
}

/** Returns a bar such as `[#####-----]  50 %`. */
export function formatBar(share: number, width = 24): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width)
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1_000 ** power).toFixed(1)} ${units[power]}`
}
