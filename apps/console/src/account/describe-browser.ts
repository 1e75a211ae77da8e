/** Browsers by a part of their `User-Agent`. Most contain the names of others, so that the order matters. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['EdgA/', 'Edge'],
  ['EdgiOS/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['CriOS/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['Windows', 'Windows'],
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** Returns a name such as `Firefox, Linux` for a `User-Agent`. Returns its start if it is unknown. */
export function describeBrowser(userAgent: string): string {
  const browser = BROWSERS.find(([part]) => userAgent.includes(part))?.[1]
  const system = SYSTEMS.find(([part]) => userAgent.includes(part))?.[1]
  return [browser, system].filter((name) => name !== undefined).join(', ') || userAgent.slice(0, 40) || '–'
}
