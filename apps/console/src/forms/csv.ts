/** Returns CSV (RFC 4180). Texts that a spreadsheet would execute as a formula begin with an apostrophe. */
export function formatCsv(rows: readonly (readonly string[])[]): string {
  const quote = (text: string) => `"${text.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`
  return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')
}

/** Stores rows as a file of the browser. It begins with a byte order mark, without which Excel does not read it as UTF-8. */
export function downloadCsv(name: string, rows: readonly (readonly string[])[]): void {
  const url = URL.createObjectURL(new Blob([`\uFEFF${formatCsv(rows)}`], { type: 'text/csv' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
