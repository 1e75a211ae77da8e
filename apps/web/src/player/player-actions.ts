/** Seconds that an arrow key seeks. */
export const ARROW_SECONDS = 5
/** Seconds that J, L and a double tap seek. */
export const LETTER_SECONDS = 10

/** Actions of the keys and buttons of the player. */
export interface PlayerActions {
  play(): void
  mute(): void
  fullscreen(): void
  captions(): void
  seekTo(seconds: number): void
  setVolume(volume: number): void
  setRate(rate: number): void
  showShortcuts(): void
}
