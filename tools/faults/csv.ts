/** Parses a CSV file and returns its rows without the header. A cell with a comma or a quote is quoted. */
export function parseCsv(text: string): string[][] {
  const lines = text.trimEnd().split('\n').slice(1)
  return lines.map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''),
  )
}

/** Returns a CSV file. Cells must not contain line breaks. */
export function formatCsv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, ...rows].map((cells) => `${cells.map(formatCell).join(',')}\n`).join('')
}

const formatCell = (cell: string): string => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
