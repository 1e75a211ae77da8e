import { Button, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage, systemClient, toMessage } from '../api/client.ts'
import { FormDialog } from '../layout/form-dialog.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { mergeChanges } from '../layout/merge-changes.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { type OrganisationRecord, refreshOrganisations } from './organisation-record.ts'

const BYTES_PER_GB = 1_000_000_000

/** Texts of the form. An empty limit is no limit. */
interface Form {
  name: string
  gigabytes: string
  minutes: string
  jobs: string
  addresses: string
}

/** Creates an organisation, or changes one. */
export function OrganisationDialog({ organisation, close }: { organisation: OrganisationRecord | undefined; close: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [form, setForm] = useState(toForm(organisation))
  /** What is stored. Another try does not create a second organisation. */
  const [stored, setStored] = useState(organisation && { id: organisation.organisation_id, form: toForm(organisation) })
  const save = useMutation({
    mutationFn: async () => {
      const target = stored ?? (await create(form.name))
      setStored(target)
      if (!stored) await refreshOrganisations(queryClient)
      // All limits are replaced together, so those that another person has changed are read.
      const current = organisation ? toForm(await systemClient.call('getOrganisation', { path: { id: target.id } })) : target.form
      const payload = changesOf(current, mergeChanges(form, target.form, current))
      if (Object.keys(payload).length > 0) await systemClient.call('updateOrganisation', { path: { id: target.id }, payload })
    },
    async onSuccess() {
      await refreshOrganisations(queryClient)
      notifySuccess(t('common.saved'))
      close()
    },
    onError(error) {
      const wasCreated = stored !== undefined && organisation === undefined
      notifyError(wasCreated ? new Error(t('system.onlyCreated', { reason: toMessage(error) })) : error)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const bind = bindTexts(form, setForm, save.error)
  const limit = (name: 'gigabytes' | 'minutes' | 'jobs', field: string, step: string) => ({
    ...bind(name),
    error: fieldMessage(save.error, `quota.${field}`),
    description: t('system.quotaHelp'),
    ...{ type: 'number', min: 0, step },
  })
  return (
    <FormDialog
      title={organisation ? t('system.editTitle', { name: organisation.name }) : t('system.add')}
      isChanged={Object.keys(changesOf(stored?.form ?? toForm(undefined), form)).length > 0}
      close={close}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput label={t('common.name')} required maxLength={255} data-autofocus {...bind('name')} />
          <TextInput label={t('system.bytes')} {...limit('gigabytes', 'bytes', 'any')} />
          <TextInput label={t('system.minutes')} {...limit('minutes', 'minutes_per_month', '1')} />
          <TextInput label={t('system.concurrentJobs')} {...limit('jobs', 'concurrent_jobs', '1')} />
          <Textarea
            label={t('system.addresses')}
            description={t('system.addressesHelp')}
            placeholder="192.0.2.0/24"
            autosize
            minRows={2}
            maxRows={8}
            {...bind('addresses')}
            error={fieldMessage(save.error, 'allowed_ips')}
          />
          <Button type="submit" loading={save.isPending}>
            {organisation ? t('common.save') : t('system.add')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}

async function create(name: string) {
  const { organisation_id: id } = await systemClient.call('createOrganisation', { payload: { name } })
  return { id, form: { ...toForm(undefined), name } }
}

function toForm(organisation: OrganisationRecord | undefined): Form {
  const { bytes, minutes_per_month, concurrent_jobs } = organisation?.quota ?? {
    bytes: null,
    minutes_per_month: null,
    concurrent_jobs: null,
  }
  return {
    name: organisation?.name ?? '',
    gigabytes: bytes === null ? '' : String(Number(bytes) / BYTES_PER_GB),
    minutes: minutes_per_month ?? '',
    jobs: concurrent_jobs ?? '',
    addresses: organisation?.allowed_ips.join('\n') ?? '',
  }
}

/** Returns the fields that differ. All limits are replaced together. */
function changesOf(before: Form, { name, gigabytes, minutes, jobs, addresses }: Form) {
  const limitOf = (text: string, factor = 1) => (text.trim() === '' ? null : Math.round(Number(text) * factor))
  const hasQuotaChanged = gigabytes !== before.gigabytes || minutes !== before.minutes || jobs !== before.jobs
  return {
    ...(name !== before.name && { name }),
    ...(hasQuotaChanged && {
      quota: { bytes: limitOf(gigabytes, BYTES_PER_GB), minutes_per_month: limitOf(minutes), concurrent_jobs: limitOf(jobs) },
    }),
    ...(addresses !== before.addresses && { allowed_ips: addresses.split('\n').flatMap((line) => line.trim() || []) }),
  }
}
