import { Alert, Badge, Button, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { formatTime } from '../layout/format.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { valueLabel } from '../translation/value-label.ts'
import { EVENTS } from './event-types.ts'

/** The dialog is loaded when it is opened. */
const AddWebhook = lazyPart(() => import('./add-webhook.tsx').then(({ AddWebhook }) => AddWebhook))

const DELIVERIES = 50
const DELIVERY_INTERVAL_MS = 3_000

/** Webhooks of the organisation with what was sent to them. */
export function WebhooksPage() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [isAdding, { open, close }] = useDisclosure(false)
  const webhooks = useQuery({ queryKey: ['webhooks', organisationId], queryFn: ({ signal }) => api.call('listWebhooks', { signal }) })
  return (
    <>
      <PageHeader title={t('webhooks.title')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={open}>
          {t('webhooks.add')}
        </Button>
      </PageHeader>
      {isAdding && <AddWebhook close={close} />}
      <QueryState query={webhooks}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={<IconWebhook size={28} />} title={t('webhooks.none')} />
          ) : (
            <Stack component="ul" className="plain-list">
              {list.map((webhook) => (
                <WebhookRow key={webhook.id} webhook={webhook} />
              ))}
            </Stack>
          )
        }
      </QueryState>
    </>
  )
}

function WebhookRow({ webhook }: { webhook: Schemas['Webhook'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [isOpen, { toggle }] = useDisclosure(false)
  const path = { webhook_id: webhook.id }
  const isEnabled = webhook.enabled === '1'
  const change = useMutation({
    mutationFn: () => api.call('updateWebhook', { path, payload: { enabled: !isEnabled } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
    onError: notifyError,
  })
  const test = useMutation({
    mutationFn: () => api.call('testWebhook', { path }),
    onSuccess: () => notifySuccess(t('webhooks.tested')),
    onError: notifyError,
  })
  const remove = async () => {
    await api.call('deleteWebhook', { path })
    await queryClient.invalidateQueries({ queryKey: ['webhooks'] })
  }
  return (
    <Paper withBorder p="md" component="li">
      <Group justify="space-between" align="flex-start">
        <div className="webhook-url">
          <Text fw={600} className="page-title">
            {webhook.url}
          </Text>
          <Text size="sm" c="dimmed">
            {webhook.events.length === EVENTS.length ? t('webhooks.allEvents') : webhook.events.join(', ')}
          </Text>
        </div>
        <Badge color={isEnabled ? 'teal' : 'gray'}>{t(isEnabled ? 'webhooks.enabled' : 'webhooks.disabled')}</Badge>
      </Group>
      {webhook.disabled_reason !== '' && (
        <Alert color="orange" mt="sm">
          {webhook.disabled_reason}
        </Alert>
      )}
      <Group gap="xs" mt="sm">
        <Button size="xs" variant="default" onClick={toggle} aria-expanded={isOpen}>
          {t('webhooks.deliveries')}
        </Button>
        <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          {t('webhooks.test')}
        </Button>
        <Button size="xs" variant="default" loading={change.isPending} onClick={() => change.mutate()}>
          {t(isEnabled ? 'webhooks.disable' : 'webhooks.enable')}
        </Button>
        <ConfirmButton
          size="xs"
          title={t('webhooks.deleteTitle')}
          text={t('webhooks.deleteText')}
          confirm={t('common.delete')}
          onConfirm={remove}
        >
          {t('common.delete')}
        </ConfirmButton>
      </Group>
      {isOpen && <Deliveries webhookId={webhook.id} />}
    </Paper>
  )
}

function Deliveries({ webhookId }: { webhookId: string }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const path = { webhook_id: webhookId }
  const deliveries = useQuery({
    queryKey: ['deliveries', webhookId],
    refetchInterval: DELIVERY_INTERVAL_MS,
    queryFn: ({ signal }) => api.call('listWebhookDeliveries', { path, query: { limit: DELIVERIES }, signal }),
  })
  const resend = useMutation({
    mutationFn: (delivery_id: string) => api.call('resendWebhookDelivery', { path: { ...path, delivery_id } }),
    onSuccess: () => notifySuccess(t('webhooks.resent')),
    onError: notifyError,
  })
  return (
    <QueryState query={deliveries}>
      {(list) =>
        list.length === 0 ? (
          <Text size="sm" c="dimmed" mt="md">
            {t('webhooks.noDeliveries')}
          </Text>
        ) : (
          <ListTable
            columns={[t('webhooks.time'), t('webhooks.event'), t('common.status'), t('webhooks.response')]}
            hasActions
            minWidth={560}
          >
            {list.map(({ delivery_id, time_created, event, status, response_code }) => (
              <Table.Tr key={delivery_id}>
                <Table.Td className="no-wrap">{formatTime(time_created)}</Table.Td>
                <Table.Td>{event}</Table.Td>
                <Table.Td>
                  <Badge color={status === 'delivered' ? 'teal' : status === 'failed' ? 'red' : 'gray'}>
                    {valueLabel('webhooks.states', status)}
                  </Badge>
                </Table.Td>
                <Table.Td>{response_code}</Table.Td>
                <Table.Td ta="right">
                  {status !== 'note' && (
                    <Button size="compact-xs" variant="subtle" onClick={() => resend.mutate(delivery_id)}>
                      {t('webhooks.resend')}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </ListTable>
        )
      }
    </QueryState>
  )
}
