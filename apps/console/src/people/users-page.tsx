import { Badge, Button, Group, Select, Stack, Table, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconUsers } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { PagedList } from '../layout/paged-list.tsx'
import { PasswordField } from '../layout/password-field.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { passkeyTexts } from '../translation/english/passkeys.ts'
import { valueLabel } from '../translation/value-label.ts'
import { useUsers } from './use-users.ts'

addEnglish(passkeyTexts)

const ROLES = ['uploader', 'standard', 'system'] as const
const EMPTY = { first_name: '', last_name: '', email: '', password: '' }

/** Users of the organisation. */
export function UsersPage() {
  const { t } = useTranslation()
  const { api, isSystem, user: self } = useSession()
  const queryClient = useQueryClient()
  const [isAdding, { open, close }] = useDisclosure(false)
  const users = useUsers()
  const remove = async (email_or_user_id: string) => {
    await api.call('deleteUser', { path: { email_or_user_id } })
    await queryClient.invalidateQueries({ queryKey: ['users'] })
  }
  const invite = useMutation({
    mutationFn: (user_id: string) => api.call('createInvitation', { path: { user_id } }),
    onSuccess: ({ email }) => notifySuccess(t('users.invitationSent', { email })),
    onError: notifyError,
  })
  const isInviting = (userId: string) => invite.isPending && invite.variables === userId
  const resetPasskeys = async (user_id: string) => {
    await api.call('deleteUserPasskeys', { path: { user_id } })
    notifySuccess(t('passkeys.resetDone'))
  }
  return (
    <>
      <PageHeader title={t('users.title')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={open}>
          {t('users.add')}
        </Button>
      </PageHeader>
      {isAdding && <AddUser close={close} />}
      <QueryState query={users}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={<IconUsers size={28} />} title={t('users.none')} />
          ) : (
            <PagedList rows={list} label={t('users.find')} textOf={(one) => `${one.first_name} ${one.last_name} ${one.email}`}>
              {(shown) => (
                <ListTable columns={[t('common.name'), t('users.email'), t('users.role'), t('common.created')]} hasActions minWidth={900}>
                  {shown.map(({ user_id, first_name, last_name, email, user_type, status, time_created }) => (
                    <Table.Tr key={user_id}>
                      <Table.Td>{`${first_name} ${last_name}`}</Table.Td>
                      <Table.Td>{email}</Table.Td>
                      <Table.Td>
                        <Group gap={6}>
                          <Badge variant="light">{valueLabel('users.short', user_type)}</Badge>
                          {status === 'invited' && <Badge color="gray">{t('users.invited')}</Badge>}
                        </Group>
                      </Table.Td>
                      <Table.Td className="no-wrap">{formatTime(time_created)}</Table.Td>
                      <Table.Td ta="right" className="no-wrap">
                        {status === 'invited' && (isSystem || user_type !== 'system') && (
                          <Button size="xs" variant="default" mr="xs" loading={isInviting(user_id)} onClick={() => invite.mutate(user_id)}>
                            {t('users.inviteAgain')}
                          </Button>
                        )}
                        {status !== 'invited' && (isSystem || user_type !== 'system') && user_id !== self.user_id && (
                          <ConfirmButton
                            size="xs"
                            variant="default"
                            color="gray"
                            mr="xs"
                            title={t('passkeys.resetTitle', { name: `${first_name} ${last_name}` })}
                            text={t('passkeys.resetText')}
                            confirm={t('passkeys.reset')}
                            onConfirm={() => resetPasskeys(user_id)}
                          >
                            {t('passkeys.reset')}
                          </ConfirmButton>
                        )}
                        {isSystem && user_id !== self.user_id && (
                          <ConfirmButton
                            size="xs"
                            title={t('users.deleteTitle', { name: `${first_name} ${last_name}` })}
                            text={t('users.deleteText')}
                            confirm={t('common.delete')}
                            onConfirm={() => remove(user_id)}
                          >
                            {t('common.delete')}
                          </ConfirmButton>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </ListTable>
              )}
            </PagedList>
          )
        }
      </QueryState>
    </>
  )
}

function AddUser({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId, isSystem } = useSession()
  const queryClient = useQueryClient()
  const [form, setForm] = useState(EMPTY)
  const [role, setRole] = useState<(typeof ROLES)[number]>('uploader')
  const add = useMutation({
    mutationFn: async () => {
      const { password, ...facts } = form
      const fields = { ...facts, user_type: role, organisation_id: organisationId }
      const { user_id } = await api.call('createUser', { payload: password === '' ? fields : { ...fields, password } })
      if (password === '') await api.call('createInvitation', { path: { user_id } })
    },
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['users'] })
      notifySuccess(t('common.saved'))
      close()
    },
    async onError(error) {
      notifyError(error)
      // The user may exist although the invitation was not sent.
      await queryClient.invalidateQueries({ queryKey: ['users'] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  const bind = bindTexts(form, setForm, add.error)
  const text = (name: keyof typeof EMPTY) => ({ ...bind(name), required: true })
  return (
    <FormDialog title={t('users.add')} isChanged={form !== EMPTY} close={close}>
      <form onSubmit={submit}>
        <Stack>
          <Group grow align="flex-start">
            <TextInput label={t('users.firstName')} data-autofocus {...text('first_name')} />
            <TextInput label={t('users.lastName')} {...text('last_name')} />
          </Group>
          <TextInput label={t('users.email')} type="email" {...text('email')} />
          <Select
            label={t('users.role')}
            data={ROLES.filter((name) => name !== 'system' || isSystem).map((value) => ({ value, label: t(`users.${value}`) }))}
            value={role}
            allowDeselect={false}
            onChange={(value) => setRole(ROLES.find((name) => name === value) ?? 'uploader')}
          />
          <PasswordField
            label={t('users.password')}
            description={t('users.invitationHelp')}
            autoComplete="new-password"
            {...text('password')}
            required={false}
          />
          <Button type="submit" loading={add.isPending}>
            {t('users.add')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
