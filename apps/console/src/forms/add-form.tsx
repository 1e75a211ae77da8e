import { Button, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'

const EMPTY = {
  ...{ reference: '', primary_text: '', secondary_text: '', button_text: '', opt_in_message: '' },
  ...{ capture_names: true, capture_company_name: false, capture_opt_in: false, gated: false },
}

/**
 * Creates a contact form. It begins with the values of `original`, if that is set: a form cannot be changed, because
 * viewers have agreed to its text.
 */
export function AddForm({ original, close }: { original?: Schemas['ContactForm'] | undefined; close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [initial] = useState(() => (original ? toValues(original) : EMPTY))
  const [form, setForm] = useState(initial)
  const add = useMutation({
    mutationFn: () => {
      const opt_in_message = form.capture_opt_in ? form.opt_in_message : ''
      return api.call('createContactForm', { payload: { ...form, opt_in_message, organisation_id: organisationId } })
    },
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['forms'] })
      notifySuccess(t('common.saved'))
      close()
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  const text = bindTexts(form, setForm, add.error)
  const toggle = (field: 'capture_names' | 'capture_company_name' | 'capture_opt_in' | 'gated') => ({
    checked: form[field],
    onChange: ({ currentTarget: { checked } }: { currentTarget: { checked: boolean } }) =>
      setForm((before) => ({ ...before, [field]: checked })),
  })
  return (
    <FormDialog title={t('forms.add')} isChanged={form !== initial} close={close}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('forms.reference')}
            description={t('forms.referenceHelp')}
            required
            data-autofocus
            maxLength={255}
            {...text('reference')}
          />
          <Textarea label={t('forms.text')} autosize minRows={2} required maxLength={1_000} {...text('primary_text')} />
          <TextInput label={t('forms.button')} required maxLength={100} {...text('button_text')} />
          <Switch label={t('forms.names')} {...toggle('capture_names')} />
          <Switch label={t('forms.companies')} {...toggle('capture_company_name')} />
          <Switch label={t('forms.consents')} {...toggle('capture_opt_in')} />
          {form.capture_opt_in && (
            <Textarea label={t('forms.consentText')} autosize minRows={2} required maxLength={1_000} {...text('opt_in_message')} />
          )}
          <Switch label={t('forms.gated')} {...toggle('gated')} />
          <Button type="submit" loading={add.isPending}>
            {t('forms.add')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}

function toValues(form: Schemas['ContactForm']): typeof EMPTY {
  const { reference, primary_text, secondary_text, button_text, opt_in_message } = form
  return {
    ...{ reference, primary_text, secondary_text, button_text, opt_in_message },
    capture_names: form.capture_names === '1',
    capture_company_name: form.capture_company_name === '1',
    capture_opt_in: form.capture_opt_in === '1',
    gated: form.gated === '1',
  }
}
