import { Badge, Button, Group, Select, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlus, IconUsers } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { MAX_OPTIONS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { useUsers } from '../people/use-users.ts'
import { addEnglish } from '../translation/add-english.ts'
import { keyTexts } from '../translation/english/keys.ts'
import { AddKey } from './add-key.tsx'
import { type KeyRecord, listGrantable, toKeyRecords } from './key-record.ts'
import { KeyPermissions } from './permission-list.tsx'
import { RotateKey } from './rotate-key.tsx'

addEnglish(keyTexts)

/** Keys are secrets, so that a list shows only this many characters. */
const SHOWN_CHARACTERS = 8

/** API keys of a user of the organisation. */
export function KeysPage() {
  const { t } = useTranslation()
  const { user } = useSession()
  const [isAdding, { open, close }] = useDisclosure(false)
  const [selectedId, setSelectedId] = useState(user.user_id)
  const users = useUsers()
  // The selected user may belong to another organisation than the one that is shown.
  const owner = users.data?.find(({ user_id }) => user_id === selectedId) ?? users.data?.[0]
  return (
    <>
      <PageHeader title={t('keys.title')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} disabled={owner === undefined} onClick={open}>
          {t('keys.add')}
        </Button>
      </PageHeader>
      {owner !== undefined && isAdding && <AddKey close={close} owner={owner.user_id} />}
      <QueryState query={users}>
        {(list) =>
          owner === undefined ? (
            <EmptyState icon={<IconUsers size={28} />} title={t('users.none')} />
          ) : (
            <>
              <Select
                label={t('keys.owner')}
                data={list.map(({ user_id, first_name, last_name, email }) => ({
                  value: user_id,
                  label: `${first_name} ${last_name}`.trim() || email,
                }))}
                value={owner.user_id}
                allowDeselect={false}
                searchable
                limit={MAX_OPTIONS}
                maw={320}
                mb="lg"
                onChange={(value) => value && setSelectedId(value)}
              />
              <KeyList owner={owner} />
            </>
          )
        }
      </QueryState>
    </>
  )
}

function KeyList({ owner }: { owner: Schemas['User'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  /** The key that is being rotated. */
  const [rotated, setRotated] = useState<KeyRecord>()
  const { user_id, user_type } = owner
  const keys = useQuery({
    queryKey: ['keys', user_id],
    // Each read is an entry of the history.
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }) => {
      const [found, accessList] = await Promise.all([
        api.call('listUserApiKeys', { path: { user_id }, signal }),
        api.call('listAclResources', { signal }),
      ])
      return toKeyRecords(found.acl, { grantable: listGrantable(accessList, user_type), now: Date.now() })
    },
  })
  const revoke = async (api_key: string) => {
    await api.call('revokeApiKey', { path: { api_key } })
    await queryClient.invalidateQueries({ queryKey: ['keys'] })
  }
  return (
    <>
      {rotated && <RotateKey owner={user_id} record={rotated} close={() => setRotated(undefined)} />}
      <QueryState query={keys}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={<IconKey size={28} />} title={t('keys.none')} />
          ) : (
            <ListTable columns={[t('common.name'), t('keys.preset'), t('keys.lastUsed'), t('keys.expires')]} hasActions minWidth={960}>
              {list.map((record) => (
                <KeyRow key={record.key} record={record} rotate={() => setRotated(record)} revoke={() => revoke(record.key)} />
              ))}
            </ListTable>
          )
        }
      </QueryState>
    </>
  )
}

function KeyRow({ record, rotate, revoke }: { record: KeyRecord; rotate: () => void; revoke: () => Promise<void> }) {
  const { t } = useTranslation()
  const { key, hasFacts, name, expires, isExpired, lastUsed, resources } = record
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        <Text size="xs" c="dimmed" className="code-text">
          {key.slice(0, SHOWN_CHARACTERS)}…
        </Text>
      </Table.Td>
      <Table.Td>
        <KeyPermissions record={record} />
      </Table.Td>
      <Table.Td className="no-wrap">{hasFacts ? formatTime(lastUsed) || t('keys.neverUsed') : '–'}</Table.Td>
      <Table.Td className="no-wrap">
        {hasFacts ? formatTime(expires) || t('keys.never') : '–'}
        {isExpired && (
          <Badge color="red" variant="light" ml="xs">
            {t('keys.expired')}
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {/* The list has no name of a key without permissions. */}
          {resources.length > 0 && (
            <Button size="xs" variant="default" onClick={rotate}>
              {t('keys.rotate')}
            </Button>
          )}
          <ConfirmButton size="xs" title={t('keys.revokeTitle')} text={t('keys.revokeText')} confirm={t('keys.revoke')} onConfirm={revoke}>
            {t('keys.revoke')}
          </ConfirmButton>
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
