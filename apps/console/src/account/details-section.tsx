import { Group, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Result } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SESSION_KEY, useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { listChanges, mergeChanges } from '../layout/merge-changes.ts'
import { notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'

const FIELDS = ['first_name', 'last_name', 'telephone_land'] as const

/** Form for the user's own name and telephone number. Only changes are sent, so that those of a manager are kept. */
export function DetailsSection() {
  const { t } = useTranslation()
  const { api, user } = useSession()
  const queryClient = useQueryClient()
  const stored = { first_name: user.first_name, last_name: user.last_name, telephone_land: user.telephone_land }
  /** The stored values on which the form is based. */
  const [base, setBase] = useState(stored)
  const [form, setForm] = useState(stored)
  if (listChanges(stored, base).length > 0) {
    setBase(stored)
    setForm(mergeChanges(form, base, stored))
  }
  const changes: Partial<typeof stored> = Object.fromEntries(listChanges(form, base).map((name) => [name, form[name]]))
  const save = useMutation({
    mutationFn: () => api.call('updateOwnUser', { payload: changes }),
    onSuccess(changed) {
      queryClient.setQueryData<Result<'getOwnSession'>>(SESSION_KEY, (session) => session && { ...session, user: changed })
      notifySuccess(t('common.saved'))
    },
  })
  const isChanged = Object.keys(changes).length > 0
  useUnsavedChanges(isChanged)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const discard = () => {
    setForm(base)
    save.reset()
  }
  const bind = bindTexts(form, setForm, save.error)
  return (
    <section>
      <Title order={2} size="h4" mb="sm">
        {t('account.details')}
      </Title>
      <Stack component="form" onSubmit={submit} maw={560}>
        <ErrorAlert error={save.error} fields={FIELDS} />
        <Group grow align="flex-start">
          <TextInput label={t('users.firstName')} autoComplete="given-name" maxLength={100} required {...bind('first_name')} />
          <TextInput label={t('users.lastName')} autoComplete="family-name" maxLength={100} required {...bind('last_name')} />
        </Group>
        <TextInput label={t('account.telephone')} type="tel" autoComplete="tel" maxLength={50} {...bind('telephone_land')} />
        <SaveButtons isChanged={isChanged} isPending={save.isPending} discard={discard} />
      </Stack>
    </section>
  )
}
