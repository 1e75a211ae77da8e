/** Returns whether the text is an existing day such as `2028-02-29`, with years 1 to 9999. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  // Date rejects 31 June in this form, or turns it into 1 July.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text)
}
