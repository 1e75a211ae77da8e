import { Alert, Badge, Button, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { formatExactTime } from '../layout/format.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { webhookTexts } from '../translation/english/webhooks.ts'
import { valueLabel } from '../translation/value-label.ts'
import { EVENTS } from './event-types.ts'

addEnglish(webhookTexts)

// The code of the dialogs is loaded when they are opened.
const AddWebhook = lazyPart(() => import('./secret-dialogs.tsx').then(({ AddWebhook }) => AddWebhook))
const EditWebhook = lazyPart(() => import('./edit-webhook.tsx').then(({ EditWebhook }) => EditWebhook))
const RotateSecret = lazyPart(() => import('./secret-dialogs.tsx').then(({ RotateSecret }) => RotateSecret))

/** Number of deliveries that are shown at first. */
const INITIAL_DELIVERIES = 50
/** Maximum number of deliveries that are shown. */
const MAX_DELIVERIES = 1_000
/** States in which a delivery can be sent again. */
const RESENDABLE_STATES: ReadonlySet<string> = new Set(['delivered', 'failed'])
/** Interval at which the initial deliveries are loaded again. */
const POLL_INTERVAL_MS = 3_000

/** Webhooks of the organisation, with the log of their deliveries. */
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
  const [dialog, setDialog] = useState<'edit' | 'rotate'>()
  const closeDialog = () => setDialog(undefined)
  const path = { webhook_id: webhook.id }
  const isEnabled = webhook.enabled === '1'
  const toggleEnabled = useMutation({
    mutationFn: () => api.call('updateWebhook', { path, payload: { enabled: !isEnabled } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
    onError: notifyError,
  })
  const test = useMutation({
    mutationFn: () => api.call('testWebhook', { path }),
    async onSuccess() {
      notifySuccess(t('webhooks.tested'))
      await queryClient.invalidateQueries({ queryKey: ['deliveries', webhook.id] })
    },
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
        <Button size="xs" variant="default" loading={test.isPending} disabled={!isEnabled} onClick={() => test.mutate()}>
          {t('webhooks.test')}
        </Button>
        <Button size="xs" variant="default" loading={toggleEnabled.isPending} onClick={() => toggleEnabled.mutate()}>
          {t(isEnabled ? 'webhooks.disable' : 'webhooks.enable')}
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
          {t('webhooks.edit')}
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
          {t('webhooks.rotate')}
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
      {dialog === 'edit' && <EditWebhook webhook={webhook} close={closeDialog} />}
      {dialog === 'rotate' && <RotateSecret webhookId={webhook.id} close={closeDialog} />}
      {isOpen && <Deliveries webhookId={webhook.id} isEnabled={isEnabled} />}
    </Paper>
  )
}

function Deliveries({ webhookId, isEnabled }: { webhookId: string; isEnabled: boolean }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [limit, setLimit] = useState(INITIAL_DELIVERIES)
  const path = { webhook_id: webhookId }
  const deliveries = useQuery({
    queryKey: ['deliveries', webhookId, limit],
    placeholderData: keepPreviousData,
    // A longer log is not polled.
    refetchInterval: limit === INITIAL_DELIVERIES && POLL_INTERVAL_MS,
    queryFn: ({ signal }) => api.call('listWebhookDeliveries', { path, query: { limit }, signal }),
  })
  const resend = useMutation({
    mutationFn: (delivery_id: string) => api.call('resendWebhookDelivery', { path: { ...path, delivery_id } }),
    async onSuccess() {
      notifySuccess(t('webhooks.resent'))
      await queryClient.invalidateQueries({ queryKey: ['deliveries', webhookId] })
    },
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
          <>
            <ListTable
              columns={[t('common.time'), t('webhooks.event'), t('common.status'), t('webhooks.response')]}
              hasActions
              minWidth={560}
            >
              {list.map(({ delivery_id, time_created, event, status, response_code }) => (
                <Table.Tr key={delivery_id}>
                  <Table.Td className="no-wrap">{formatExactTime(time_created)}</Table.Td>
                  <Table.Td>{event}</Table.Td>
                  <Table.Td>
                    <Badge color={status === 'delivered' ? 'teal' : status === 'failed' ? 'red' : 'gray'}>
                      {valueLabel('webhooks.states', status)}
                    </Badge>
                  </Table.Td>
                  <Table.Td>{response_code}</Table.Td>
                  <Table.Td ta="right">
                    {isEnabled && RESENDABLE_STATES.has(status) && (
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        loading={resend.isPending && resend.variables === delivery_id}
                        disabled={resend.isPending}
                        onClick={() => resend.mutate(delivery_id)}
                      >
                        {t('webhooks.resend')}
                      </Button>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </ListTable>
            {list.length >= MAX_DELIVERIES && (
              <Text size="sm" c="dimmed" mt="xs">
                {t('webhooks.oldest', { max: MAX_DELIVERIES })}
              </Text>
            )}
            {(deliveries.isPlaceholderData || (list.length === limit && limit < MAX_DELIVERIES)) && (
              <Button
                size="xs"
                variant="default"
                loading={deliveries.isPlaceholderData}
                onClick={() => setLimit(Math.min(MAX_DELIVERIES, 2 * limit))}
              >
                {t('audit.more')}
              </Button>
            )}
          </>
        )
      }
    </QueryState>
  )
}
