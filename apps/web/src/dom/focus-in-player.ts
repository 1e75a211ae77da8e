/**
 * Moves the focus to an element of the player without scrolling. In a frame, it does so only if the
 * frame already has the focus: the viewer may be typing in the surrounding page.
 */
export function focusInPlayer(element: HTMLElement): void {
  const isFramed = window.self !== window.top
  if (!isFramed || document.hasFocus()) element.focus({ preventScroll: true })
}
