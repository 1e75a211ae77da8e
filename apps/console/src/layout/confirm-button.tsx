import { Button, type ButtonProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { Confirmation } from './confirm-dialog.tsx'
import { lazyPart } from './lazy-part.tsx'

/** The dialog is loaded when it is opened. */
const ConfirmDialog = lazyPart(() => import('./confirm-dialog.tsx').then(({ ConfirmDialog }) => ConfirmDialog))

/** Button that opens a dialog, in which the user confirms or cancels the action. */
export function ConfirmButton({
  title,
  text,
  confirm,
  children,
  onConfirm,
  ...button
}: ButtonProps & Confirmation & { children: ReactNode }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button color="red" variant="light" {...button} onClick={open}>
        {children}
      </Button>
      {isOpen && <ConfirmDialog title={title} text={text} confirm={confirm} onConfirm={onConfirm} close={close} />}
    </>
  )
}
