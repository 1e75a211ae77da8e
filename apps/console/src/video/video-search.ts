export const VIDEO_TABS = [
  ...(['details', 'captions', 'chapters', 'review', 'presentation', 'sharing'] as const),
  ...(['protection', 'overlays', 'files', 'analytics'] as const),
] as const
export type VideoTab = (typeof VIDEO_TABS)[number]

export interface VideoSearch {
  tab?: VideoTab
  /** Time in seconds at which the player starts. */
  t?: number
}

/** Reads the selected tab and the time of an address. */
export function readVideoSearch({ tab, t }: Record<string, unknown>): VideoSearch {
  const found = VIDEO_TABS.find((name) => name === tab)
  return { ...(found && found !== 'details' && { tab: found }), ...(typeof t === 'number' && t >= 0 && { t }) }
}
