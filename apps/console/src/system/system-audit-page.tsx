import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { AuditList } from '../audit/audit-list.tsx'
import { PageHeader } from '../layout/page-header.tsx'

const FILTER_DELAY_MS = 300
const ID = /^[1-9]\d{0,18}$/

/** Writes of all organisations, the newest first. */
export function SystemAuditPage() {
  const { t } = useTranslation()
  const [organisation, setOrganisation] = useState<string | null>(null)
  const [texts, setTexts] = useState({ user: '', action: '', object: '' })
  const [{ user, action, object }] = useDebouncedValue(texts, FILTER_DELAY_MS)
  const names = useQuery({
    queryKey: ['organisations'],
    queryFn: ({ signal }) => systemClient.call('listOrganisationNames', { signal }),
  })
  const input = (name: keyof typeof texts) => ({
    value: texts[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => setTexts((before) => ({ ...before, [name]: value })),
  })
  const userId = user.trim()
  const filter = {
    ...{ organisation_id: organisation ?? '', action: action.trim(), object: object.trim() },
    user_id: ID.test(userId) ? userId : '',
  }
  return (
    <>
      <PageHeader title={t('system.audit')} note={t('system.auditNote')} />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} mb="md">
        <Select
          label={t('system.organisation')}
          placeholder={t('system.allOrganisations')}
          clearable
          searchable
          data={Object.entries(names.data ?? {}).map(([value, label]) => ({ value, label }))}
          value={organisation}
          onChange={setOrganisation}
        />
        <TextInput label={t('system.userId')} inputMode="numeric" {...input('user')} />
        <TextInput label={t('audit.action')} placeholder="video::put" {...input('action')} />
        <TextInput label={t('audit.object')} placeholder="/v2/video/42" {...input('object')} />
      </SimpleGrid>
      <AuditList api={systemClient} filter={filter} />
    </>
  )
}
