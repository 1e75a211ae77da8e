export const VIDEO_TABS = ['details', 'captions', 'chapters', 'sharing', 'protection', 'files', 'analytics'] as const
export type VideoTab = (typeof VIDEO_TABS)[number]

/** Reads the selected tab of an address. */
export function readVideoSearch({ tab }: Record<string, unknown>): { tab?: VideoTab } {
  const found = VIDEO_TABS.find((name) => name === tab)
  return found && found !== 'details' ? { tab: found } : {}
}
