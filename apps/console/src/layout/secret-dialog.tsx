import { Alert, Button, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyField } from './copy-field.tsx'
import { useUnsavedChanges } from './unsaved-changes.tsx'
import { useReturnFocus } from './use-return-focus.ts'

interface Props {
  /** Title of the form. */
  title: string
  /** The form that creates the secret. */
  children: ReactNode
  isPending: boolean
  /** Undefined until it is created. */
  secret: { title: string; text: string; label: string; value: string } | undefined
  close: () => void
}

/** A dialog that creates a secret and shows it once. A click outside does not close it. */
export function SecretDialog({ title, children, isPending, secret, close }: Props) {
  const { t } = useTranslation()
  // The response has the secret.
  useUnsavedChanges(isPending || secret !== undefined)
  useReturnFocus()
  const end = () => {
    if (!isPending) close()
  }
  return (
    <Modal
      opened
      onClose={end}
      closeOnClickOutside={false}
      closeOnEscape={!secret}
      title={secret?.title ?? title}
      centered
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {secret ? (
        <Stack>
          <Alert color="orange">{secret.text}</Alert>
          <CopyField label={secret.label} value={secret.value} />
          <Button onClick={close}>{t('common.close')}</Button>
        </Stack>
      ) : (
        children
      )}
    </Modal>
  )
}
