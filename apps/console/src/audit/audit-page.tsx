import { TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { AuditList } from './audit-list.tsx'

const FILTER_DELAY_MS = 300
const MAX_PATH_LENGTH = 1_000

/** Writes of the organisation, the newest first. */
export function AuditPage() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [path, setPath] = useState('')
  const [object] = useDebouncedValue(path.trim(), FILTER_DELAY_MS)
  const users = useQuery({ queryKey: ['users', organisationId], queryFn: ({ signal }) => api.call('listUsers', { signal }) })
  const names = new Map(users.data?.map(({ user_id, first_name, last_name }) => [user_id, `${first_name} ${last_name}`]))
  return (
    <>
      <PageHeader title={t('audit.title')} note={t('audit.note')} />
      <TextInput
        label={t('audit.object')}
        placeholder="/v2/video/42"
        maw={420}
        mb="md"
        maxLength={MAX_PATH_LENGTH}
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
      />
      <AuditList api={api} filter={{ organisation_id: organisationId, object }} names={names} />
    </>
  )
}
