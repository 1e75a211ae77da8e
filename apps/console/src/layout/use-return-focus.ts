import { useEffect, useState } from 'react'

/** Returns the keyboard focus to the button that has opened this dialog when the dialog is removed from the page. */
export function useReturnFocus(): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      // The element of the dialog that has the focus is removed after this.
      setTimeout(() => opener instanceof HTMLElement && opener.focus())
    },
    [opener],
  )
}
