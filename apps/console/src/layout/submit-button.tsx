import { Button, type ButtonProps } from '@mantine/core'
import type { MouseEvent, ReactNode } from 'react'

interface Props extends Omit<ButtonProps, 'loading' | 'disabled'> {
  isPending: boolean
  isDisabled?: boolean
  children: ReactNode
}

/** A button that submits its form. It keeps the keyboard focus while it is disabled or the form is being saved. */
export function SubmitButton({ isPending, isDisabled = false, ...button }: Props) {
  const isInactive = isPending || isDisabled
  const ignore = (event: MouseEvent) => {
    if (isInactive) event.preventDefault()
  }
  return (
    <Button
      {...button}
      loading={isPending}
      {...(isDisabled && { 'data-disabled': true })}
      // A button with the attribute `disabled` loses the focus.
      renderRoot={({ disabled: _, ...root }) => <button {...root} type="submit" aria-disabled={isInactive} onClick={ignore} />}
    />
  )
}
