import { Modal, type ModalProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useUnsavedChanges } from './unsaved-changes.tsx'
import { useReturnFocus } from './use-return-focus.ts'

interface Props extends Pick<ModalProps, 'size'> {
  title: string
  /** Whether something was typed. */
  isChanged: boolean
  close: () => void
  children: ReactNode
}

/** Dialog with a form, shown until it is closed. Neither a click outside nor Escape loses what was typed. */
export function FormDialog({ title, isChanged, close, children, ...modal }: Props) {
  const { t } = useTranslation()
  useUnsavedChanges(isChanged)
  useReturnFocus()
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      centered
      closeOnClickOutside={!isChanged}
      closeOnEscape={!isChanged}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      {...modal}
    >
      {children}
    </Modal>
  )
}
