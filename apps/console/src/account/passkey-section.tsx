import { Alert, Badge, Button, Group, Switch, Table, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { addPasskey, canUsePasskeys } from '../api/passkey.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError } from '../layout/notify.ts'
import { QueryState } from '../layout/query-state.tsx'
import { useRecentSignIn } from './use-recent-sign-in.tsx'

/** The dialog is loaded when it is opened. */
const PasskeyDialog = lazyRouteComponent(() => import('./passkey-dialog.tsx'), 'PasskeyDialog')

/** The user's own passkeys, and whether the password requires one too. */
export function PasskeySection() {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const recentSignIn = useRecentSignIn()
  const [isAdding, setAdding] = useState(false)
  const [renamed, setRenamed] = useState<{ id: string; name: string }>()
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: ({ signal }) => api.call('listOwnPasskeys', { signal }) })
  const settings = useQuery({ queryKey: ['sign-in-settings'], queryFn: ({ signal }) => api.call('getSignInSettings', { signal }) })
  const reload = () => queryClient.invalidateQueries({ queryKey: ['passkeys'] })
  const remove = async (passkey_id: string) => {
    await recentSignIn.run(() => api.call('deletePasskey', { path: { passkey_id } }))
    await reload()
  }
  const require = useMutation({
    mutationFn: (passkey_required: boolean) => recentSignIn.run(() => api.call('updateSignInSettings', { payload: { passkey_required } })),
    onSuccess: (changed) => queryClient.setQueryData(['sign-in-settings'], changed),
    onError: notifyError,
  })
  const isRequired = settings.data?.passkey_required ?? false
  const obstacle = useObstacle(settings.data?.passkey_origin)
  return (
    <section>
      <Group justify="space-between" align="flex-start" mb="sm">
        <div>
          <Title order={2} size="h4">
            {t('passkeys.title')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('passkeys.text')}
          </Text>
        </div>
        {obstacle === undefined && settings.data && (
          <Button size="sm" variant="default" leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={() => setAdding(true)}>
            {t('passkeys.add')}
          </Button>
        )}
      </Group>
      {obstacle !== undefined && (
        <Alert color="gray" mb="sm">
          {obstacle}
        </Alert>
      )}
      <QueryState query={passkeys}>
        {(list) => (
          <>
            {list.length === 0 ? (
              <Text size="sm">{t('passkeys.none')}</Text>
            ) : (
              <ListTable columns={[t('common.name'), t('common.created'), t('account.lastUsed')]} hasActions minWidth={620}>
                {list.map(({ id, name, backed_up, time_created, last_used }) => (
                  <Table.Tr key={id}>
                    <Table.Td>
                      {name} {backed_up && <Badge variant="light">{t('passkeys.backedUp')}</Badge>}
                    </Table.Td>
                    <Table.Td className="no-wrap">{formatTime(time_created)}</Table.Td>
                    <Table.Td className="no-wrap">{formatTime(last_used) || t('passkeys.neverUsed')}</Table.Td>
                    <Table.Td ta="right">
                      <Group gap="xs" justify="flex-end" wrap="nowrap">
                        <Button size="xs" variant="default" onClick={() => setRenamed({ id, name })}>
                          {t('passkeys.rename')}
                        </Button>
                        <ConfirmButton
                          size="xs"
                          title={t('passkeys.deleteTitle', { name })}
                          text={t('passkeys.deleteText')}
                          confirm={t('common.delete')}
                          onConfirm={() => remove(id)}
                        >
                          {t('common.delete')}
                        </ConfirmButton>
                      </Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            )}
            {(list.length > 0 || isRequired) && (
              <Switch
                mt="md"
                label={t('passkeys.required')}
                description={t('passkeys.requiredText')}
                checked={require.isPending ? require.variables : isRequired}
                disabled={require.isPending || !settings.data}
                onChange={(event) => require.mutate(event.currentTarget.checked)}
              />
            )}
          </>
        )}
      </QueryState>
      <Suspense>
        {isAdding && (
          <PasskeyDialog
            title={t('passkeys.add')}
            submit={t('passkeys.create')}
            save={(name) => recentSignIn.run(() => addPasskey(api, name))}
            onSaved={reload}
            close={() => setAdding(false)}
          />
        )}
        {renamed && (
          <PasskeyDialog
            title={t('passkeys.rename')}
            submit={t('common.save')}
            name={renamed.name}
            save={(name) => api.call('renamePasskey', { path: { passkey_id: renamed.id }, payload: { name } })}
            onSaved={reload}
            close={() => setRenamed(undefined)}
          />
        )}
      </Suspense>
      {recentSignIn.dialog}
    </section>
  )
}

/** Returns why this page cannot add passkeys, or undefined if it can. `origin` is where the platform accepts them. */
function useObstacle(origin: string | undefined): string | undefined {
  const { t } = useTranslation()
  if (origin === undefined) return undefined
  if (origin === '') return t('passkeys.addressHost')
  if (origin !== location.origin) return t('passkeys.otherOrigin', { origin })
  if (canUsePasskeys()) return undefined
  return t(window.isSecureContext ? 'passkeys.unsupported' : 'passkeys.insecure')
}
