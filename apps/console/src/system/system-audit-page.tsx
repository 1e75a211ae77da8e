import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { systemClient } from '../api/client.ts'
import { MAX_OPTIONS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { AuditList } from '../audit/audit-list.tsx'
import { useUserNames } from '../audit/use-user-names.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { useOrganisationNames } from '../organisation/use-organisation-names.ts'

const FILTER_DELAY_MS = 300
const ID = /^[1-9]\d{0,18}$/

/** Writes of all organisations, the newest first. */
export function SystemAuditPage() {
  const { t } = useTranslation()
  const { organisationId } = useSession()
  const [organisation, setOrganisation] = useState<string | null>(null)
  const [texts, setTexts] = useState({ user: '', action: '', object: '' })
  const [{ user, action, object }] = useDebouncedValue(texts, FILTER_DELAY_MS)
  const names = useOrganisationNames()
  // Without a selection, only the names of the user's own organisation are known.
  const userNames = useUserNames(organisation ?? organisationId)
  const input = (name: keyof typeof texts) => ({
    value: texts[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => setTexts((before) => ({ ...before, [name]: value })),
  })
  const userId = user.trim()
  const filter = {
    ...{ organisation_id: organisation ?? '', action: action.trim(), object: object.trim() },
    user_id: userId,
  }
  const hasValidUser = userId === '' || ID.test(userId)
  return (
    <>
      <PageHeader title={t('system.audit')} note={t('system.auditNote')} />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} mb="md">
        <Select
          label={t('system.organisation')}
          placeholder={t('system.allOrganisations')}
          clearable
          searchable
          limit={MAX_OPTIONS}
          data={Object.entries(names.data ?? {}).map(([value, label]) => ({ value, label }))}
          value={organisation}
          onChange={setOrganisation}
        />
        <TextInput label={t('system.userId')} inputMode="numeric" error={!hasValidUser && t('system.userIdHelp')} {...input('user')} />
        <TextInput label={t('audit.action')} placeholder="video::put" {...input('action')} />
        <TextInput label={t('audit.object')} placeholder="/v2/video/42" {...input('object')} />
      </SimpleGrid>
      {hasValidUser && <AuditList api={systemClient} filter={filter} names={userNames} />}
    </>
  )
}
