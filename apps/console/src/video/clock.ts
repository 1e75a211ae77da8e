/** Returns the seconds of a text such as `90`, `1:30`, `1:02:03` or `1:30.5`, or undefined if it is none. */
export function parseClock(text: string): number | undefined {
  const [, hours = '0', minutes = '0', seconds] = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,5}(?:\.\d{1,3})?)$/.exec(text.trim()) ?? []
  if (seconds === undefined) return undefined
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
}
