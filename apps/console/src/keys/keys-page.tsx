import { Alert, Button, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'

const PRESETS = ['admin', 'upload', 'playback', 'read'] as const
/** Keys are secrets, so that a list shows only this many characters. */
const SHOWN_CHARACTERS = 8

/** API keys of a user of the organisation. */
export function KeysPage() {
  const { t } = useTranslation()
  const { api, user, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [isAdding, { open, close }] = useDisclosure(false)
  const [owner, setOwner] = useState(user.user_id)
  const users = useQuery({ queryKey: ['users', organisationId], queryFn: ({ signal }) => api.call('listUsers', { signal }) })
  const keys = useQuery({
    queryKey: ['keys', owner],
    queryFn: async ({ signal }) => {
      const found = await api.call('listUserApiKeys', { path: { user_id: owner }, signal })
      return Object.entries(found.acl).map(([key, facts]) => ({
        key,
        name: facts?.application_name ?? '',
        expires: facts?.expires ?? '',
        lastUsed: facts?.last_used ?? '',
      }))
    },
  })
  const revoke = async (api_key: string) => {
    await api.call('revokeApiKey', { path: { api_key } })
    await queryClient.invalidateQueries({ queryKey: ['keys'] })
  }
  return (
    <>
      <PageHeader title={t('keys.title')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={open}>
          {t('keys.add')}
        </Button>
      </PageHeader>
      <AddKey opened={isAdding} close={close} owner={owner} />
      <Select
        label={t('keys.owner')}
        data={(users.data ?? [user]).map(({ user_id, first_name, last_name }) => ({ value: user_id, label: `${first_name} ${last_name}` }))}
        value={owner}
        allowDeselect={false}
        searchable
        maw={320}
        mb="lg"
        onChange={(value) => value && setOwner(value)}
      />
      <QueryState query={keys}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={<IconKey size={28} />} title={t('keys.none')} />
          ) : (
            <ListTable columns={[t('common.name'), t('keys.lastUsed'), t('keys.expires')]} hasActions minWidth={760}>
              {list.map(({ key, name, expires, lastUsed }) => (
                <Table.Tr key={key}>
                  <Table.Td>
                    {name}
                    <Text size="xs" c="dimmed" className="code-text">
                      {key.slice(0, SHOWN_CHARACTERS)}…
                    </Text>
                  </Table.Td>
                  <Table.Td className="no-wrap">{formatTime(lastUsed) || t('keys.neverUsed')}</Table.Td>
                  <Table.Td className="no-wrap">{formatTime(expires) || t('keys.never')}</Table.Td>
                  <Table.Td ta="right">
                    <ConfirmButton
                      size="xs"
                      title={t('keys.revokeTitle')}
                      text={t('keys.revokeText')}
                      confirm={t('keys.revoke')}
                      onConfirm={() => revoke(key)}
                    >
                      {t('keys.revoke')}
                    </ConfirmButton>
                  </Table.Td>
                </Table.Tr>
              ))}
            </ListTable>
          )
        }
      </QueryState>
    </>
  )
}

function AddKey({ opened, close, owner }: { opened: boolean; close: () => void; owner: string }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [preset, setPreset] = useState<(typeof PRESETS)[number]>('upload')
  const add = useMutation({
    mutationFn: () => api.call('createApiKey', { path: { user_id: owner }, payload: { application_name: name, preset } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  const end = () => {
    add.reset()
    setName('')
    close()
  }
  const created = add.data
  return (
    <Modal
      opened={opened}
      onClose={end}
      title={created ? t('keys.new') : t('keys.add')}
      centered
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {created ? (
        <Stack>
          <Alert color="orange">{t('keys.newText')}</Alert>
          <CopyField label={created.application_name} value={created.key} />
          <Button onClick={end}>{t('common.close')}</Button>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label={t('common.name')}
              required
              data-autofocus
              value={name}
              error={fieldMessage(add.error, 'application_name')}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Select
              label={t('keys.preset')}
              data={PRESETS.map((value) => ({ value, label: t(`keys.presets.${value}`) }))}
              value={preset}
              allowDeselect={false}
              onChange={(value) => setPreset(PRESETS.find((other) => other === value) ?? 'upload')}
            />
            <Button type="submit" loading={add.isPending}>
              {t('keys.add')}
            </Button>
          </Stack>
        </form>
      )}
    </Modal>
  )
}
