import { Button, type ButtonProps, Group, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyError } from './notify.ts'

interface Props extends ButtonProps {
  title: string
  text: string
  confirm: string
  children: ReactNode
  onConfirm: () => Promise<unknown>
}

/** A button that does something only after a second confirmation. */
export function ConfirmButton({ title, text, confirm, children, onConfirm, ...button }: Props) {
  const { t } = useTranslation()
  const [opened, { open, close }] = useDisclosure(false)
  const [isRunning, setRunning] = useState(false)
  const run = async () => {
    setRunning(true)
    try {
      await onConfirm()
      close()
    } catch (error) {
      notifyError(error)
    } finally {
      setRunning(false)
    }
  }
  return (
    <>
      <Button color="red" variant="light" {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={title} centered closeButtonProps={{ 'aria-label': t('common.close') }}>
        <Text size="sm">{text}</Text>
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={close} data-autofocus>
            {t('common.cancel')}
          </Button>
          <Button color="red" loading={isRunning} onClick={() => void run()}>
            {confirm}
          </Button>
        </Group>
      </Modal>
    </>
  )
}
