import { TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { AuditList } from './audit-list.tsx'
import { useUserNames } from './use-user-names.ts'

const FILTER_DELAY_MS = 300
const MAX_PATH_LENGTH = 1_000

/** Writes of the organisation, the newest first. */
export function AuditPage() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [path, setPath] = useState('')
  const [object] = useDebouncedValue(path.trim(), FILTER_DELAY_MS)
  const names = useUserNames(organisationId)
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
