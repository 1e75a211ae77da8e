import { Button, Group } from '@mantine/core'
import type { MouseEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { SubmitButton } from './submit-button.tsx'

interface FormButtonsProps {
  submitLabel: string
  isPending: boolean
  isDisabled?: boolean
  /** Without it, there is no button to cancel. */
  close?: (() => void) | undefined
}

/** The buttons at the end of a form: one that submits it, and one that closes it without saving. */
export function FormButtons({ submitLabel, isPending, isDisabled = false, close }: FormButtonsProps) {
  const { t } = useTranslation()
  return (
    <Group gap="xs">
      <SubmitButton isPending={isPending} isDisabled={isDisabled}>
        {submitLabel}
      </SubmitButton>
      {close && (
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
      )}
    </Group>
  )
}

interface SaveButtonsProps {
  isChanged: boolean
  isPending: boolean
  isInvalid?: boolean
  /** Restores the stored values. */
  discard: () => void
}

/** The buttons of a form for values that are already stored. */
export function SaveButtons({ isChanged, isPending, isInvalid = false, discard }: SaveButtonsProps) {
  const { t } = useTranslation()
  // The button disappears, so the focus moves to the other one.
  const discardChanges = ({ currentTarget }: MouseEvent<HTMLButtonElement>) => {
    currentTarget.form?.querySelector<HTMLElement>('[type=submit]')?.focus()
    discard()
  }
  return (
    <Group gap="xs">
      <SubmitButton isDisabled={!isChanged || isInvalid} isPending={isPending}>
        {t('common.save')}
      </SubmitButton>
      {isChanged && (
        <Button variant="subtle" onClick={discardChanges}>
          {t('common.discard')}
        </Button>
      )}
    </Group>
  )
}
