import { Button, Group, Modal, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyError } from './notify.ts'
import { useReturnFocus } from './use-return-focus.ts'

export interface Confirmation {
  title: string
  text: string
  /** Text of the button that confirms. */
  confirm: string
  onConfirm: () => Promise<unknown>
}

/** Dialog of a `ConfirmButton`. It stays open until the action has succeeded. */
export function ConfirmDialog({ title, text, confirm, onConfirm, close }: Confirmation & { close: () => void }) {
  const { t } = useTranslation()
  const [isRunning, setRunning] = useState(false)
  useReturnFocus()
  const run = async () => {
    setRunning(true)
    try {
      await onConfirm()
      close()
    } catch (error) {
      notifyError(error)
      setRunning(false)
    }
  }
  return (
    <Modal opened onClose={close} title={title} centered closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Text size="sm">{text}</Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          {t('common.cancel')}
        </Button>
        <Button color="red.9" loading={isRunning} onClick={() => void run()}>
          {confirm}
        </Button>
      </Group>
    </Modal>
  )
}
