import { Button, Modal, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { notifyError } from '../layout/notify.ts'

const EMPTY = { reference: '', primary_text: '', button_text: '', capture_names: true, capture_company_name: false, gated: false }

/** Creates a contact form. */
export function AddForm({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [form, setForm] = useState(EMPTY)
  const add = useMutation({
    mutationFn: () => api.call('createContactForm', { payload: { ...form, organisation_id: organisationId } }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['forms'] })
      close()
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  const text = bindTexts(form, setForm, add.error)
  const toggle = (field: 'capture_names' | 'capture_company_name' | 'gated') => ({
    checked: form[field],
    onChange: ({ currentTarget: { checked } }: { currentTarget: { checked: boolean } }) =>
      setForm((before) => ({ ...before, [field]: checked })),
  })
  return (
    <Modal opened onClose={close} title={t('forms.add')} centered closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput label={t('forms.reference')} description={t('forms.referenceHelp')} required data-autofocus {...text('reference')} />
          <Textarea label={t('forms.text')} autosize minRows={2} required {...text('primary_text')} />
          <TextInput label={t('forms.button')} required {...text('button_text')} />
          <Switch label={t('forms.names')} {...toggle('capture_names')} />
          <Switch label={t('forms.companies')} {...toggle('capture_company_name')} />
          <Switch label={t('forms.gated')} {...toggle('gated')} />
          <Button type="submit" loading={add.isPending}>
            {t('forms.add')}
          </Button>
        </Stack>
      </form>
    </Modal>
  )
}
