import { Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface Props {
  submitLabel: string
  isPending: boolean
  isDisabled?: boolean
  /** Without it, there is no button to cancel. */
  close?: (() => void) | undefined
}

/** The buttons at the end of a form: one that submits it, and one that closes it without saving. */
export function FormButtons({ submitLabel, isPending, isDisabled = false, close }: Props) {
  const { t } = useTranslation()
  return (
    <Group gap="xs">
      <Button type="submit" loading={isPending} disabled={isDisabled}>
        {submitLabel}
      </Button>
      {close && (
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
      )}
    </Group>
  )
}
