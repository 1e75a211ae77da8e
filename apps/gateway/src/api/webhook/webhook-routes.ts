import { invalid, requireValid } from '@vitascope/errors'
import { Webhook } from '@vitascope/proto/catalogue/v1/webhook'
import { EVENT_TYPES } from '@vitascope/proto/event-types'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { flag, id, list, oneOf, organisationIdField, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation, requiredOrganisation } from '../shared/resolve-organisation.ts'
import {
  DeliveryResponse,
  deliveryResponse,
  NewWebhookResponse,
  WebhookResponse,
  WebhookSecretResponse,
  webhookResponse,
} from './webhook-response.ts'

const url = text(
  2_000,
  { min: 1 },
  {
    description: 'Publicly reachable http or https URL to which events are posted.',
    format: 'uri',
    example: 'https://hooks.example.org/vitascope',
  },
)
const events = list(
  oneOf(EVENT_TYPES),
  { max: 50 },
  { description: 'Event types that the webhook receives. At least one.', example: ['video.ready'] },
)
const enabled = flag({ description: '`0` stops delivery. No new events are queued, and queued events wait.' })
const webhookParams = z.object({ webhookId: id('webhook') })
const disabled = { webhook_disabled: 'The webhook is disabled.' }

export const listWebhooks = route({
  get: ['/webhook'],
  operationId: 'listWebhooks',
  section: 'Webhooks',
  access: 'user',
  summary: 'List the webhooks of an organisation',
  description: 'Returns the webhooks, oldest first.',
  query: z.object({ ...pageQuery, organisation_id: organisationIdField().optional() }),
  response: z.array(WebhookResponse),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, query.organisation_id)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { webhooks, nextPageToken } = await services.webhooks.listWebhooks({ organisationId, ...page }, call)
      return { rows: webhooks, nextPageToken }
    })
    const filter = { organisation_id: query.organisation_id }
    return new Reply(rows.map(webhookResponse), { headers: nextLink(publicUrl, '/webhook', { ...query, nextCursor, query: filter }) })
  },
})

export const getWebhook = route({
  get: ['/webhook/:webhookId'],
  operationId: 'getWebhook',
  section: 'Webhooks',
  access: 'user',
  summary: 'Read a webhook',
  description: 'Returns a webhook without its secret.',
  params: webhookParams,
  response: WebhookResponse,
  async handle({ params }, { services, call }) {
    return webhookResponse(required((await services.webhooks.getWebhook(params, call)).webhook, 'webhook'))
  },
})

export const createWebhook = route({
  post: ['/webhook'],
  operationId: 'createWebhook',
  section: 'Webhooks',
  access: 'user',
  summary: 'Create a webhook',
  description:
    'The platform posts events in the format of Standard Webhooks, signed with the secret in this response. Events are delivered at ' +
    'least once and in order for each video. A failed delivery is retried for 24 hours. The webhook is then disabled.',
  status: 201,
  payload: z.strictObject({ organisation_id: organisationIdField().optional(), url, events, enabled: enabled.default(true) }),
  docs: { example: { organisation_id: '1', url: 'https://hooks.example.org/vitascope', events: ['video.ready', 'video.failed'] } },
  response: NewWebhookResponse,
  errorCodes: { webhooks_full: 'The organisation already has 20 webhooks.' },
  async handle({ payload }, context) {
    const { caller, services, call } = context
    const organisationId = resolveOrganisation(caller, payload.organisation_id)
    checkWebhook(payload, context)
    const request = { organisationId, url: payload.url, events: [...payload.events], enabled: payload.enabled }
    const { webhook, secret } = await services.webhooks.createWebhook(request, call)
    return { ...webhookResponse(required(webhook, 'webhook')), secret }
  },
})

export const updateWebhook = route({
  put: ['/webhook/:webhookId'],
  operationId: 'updateWebhook',
  section: 'Webhooks',
  access: 'user',
  summary: 'Change a webhook',
  description: 'Changes only the fields that are sent. After it is enabled again, the webhook receives the queued events.',
  params: webhookParams,
  payload: z.strictObject({ url: url.optional(), events: events.optional(), enabled: enabled.optional() }),
  record: WebhookResponse,
  docs: { example: { events: ['video.ready', 'video.failed'] } },
  response: WebhookResponse,
  async handle({ params, payload }, context) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have url, events or enabled' }])
    checkWebhook(payload, context)
    const webhook = Webhook.create({
      webhookId: params.webhookId,
      url: payload.url ?? '',
      events: [...(payload.events ?? [])],
      enabled: payload.enabled ?? false,
    })
    return webhookResponse(
      required((await context.services.webhooks.updateWebhook({ webhook, updateMask }, context.call)).webhook, 'webhook'),
    )
  },
})

export const deleteWebhook = route({
  delete: ['/webhook/:webhookId'],
  operationId: 'deleteWebhook',
  section: 'Webhooks',
  access: 'user',
  summary: 'Delete a webhook',
  description: 'Deletes a webhook with its log and its queued events.',
  params: webhookParams,
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.webhooks.deleteWebhook(params, call)
    return { deleted: true as const }
  },
})

export const rotateWebhookSecret = route({
  post: ['/webhook/:webhookId/secret'],
  operationId: 'rotateWebhookSecret',
  section: 'Webhooks',
  access: 'user',
  summary: 'Rotate the secret of a webhook',
  description:
    'Returns a new secret. For 24 hours, events are also signed with the previous secret. If there are two previous secrets, only ' +
    'the later one is used.',
  params: webhookParams,
  response: WebhookSecretResponse,
  async handle({ params }, { services, call }) {
    const { secret } = await services.webhooks.rotateSecret(params, call)
    return { webhook_id: params.webhookId, secret }
  },
})

export const testWebhook = route({
  post: ['/webhook/:webhookId/test'],
  operationId: 'testWebhook',
  section: 'Webhooks',
  access: 'user',
  summary: 'Send a test event to a webhook',
  description: 'Sends an event of type `webhook.test`. The log lists the result of the delivery.',
  status: 202,
  params: webhookParams,
  response: z.object({ delivery_id: schema.id('delivery') }),
  errorCodes: { ...disabled, delivery_waiting: 'The previous test has not ended.' },
  async handle({ params }, { services, call }) {
    const { deliveryId } = await services.webhooks.testWebhook(params, call)
    return { delivery_id: deliveryId }
  },
})

export const listDeliveries = route({
  get: ['/webhook/:webhookId/delivery'],
  operationId: 'listWebhookDeliveries',
  section: 'Webhooks',
  access: 'user',
  summary: 'List the deliveries of a webhook',
  description: 'Returns the deliveries of the last seven days, newest first. The log has at most 10,000 deliveries.',
  params: webhookParams,
  query: z.object(pageQuery),
  response: z.array(DeliveryResponse),
  async handle({ params: { webhookId }, query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 1_000 }, async (page) => {
      const { deliveries, nextPageToken } = await services.webhooks.listDeliveries({ webhookId, ...page }, call)
      return { rows: deliveries, nextPageToken }
    })
    return new Reply(rows.map(deliveryResponse), {
      headers: nextLink(publicUrl, `/webhook/${webhookId}/delivery`, { ...query, nextCursor }),
    })
  },
})

export const resendDelivery = route({
  post: ['/webhook/:webhookId/delivery/:deliveryId/resend'],
  operationId: 'resendWebhookDelivery',
  section: 'Webhooks',
  access: 'user',
  summary: 'Resend an event from the log',
  description: 'Creates a new delivery with the `webhook-id` of the event.',
  status: 202,
  params: z.object({ webhookId: id('webhook'), deliveryId: id('delivery') }),
  response: z.object({ delivery_id: schema.id('delivery') }),
  errorCodes: { ...disabled, delivery_waiting: 'The delivery has not ended.' },
  async handle({ params }, { services, call }) {
    const { deliveryId } = await services.webhooks.resendDelivery(params, call)
    return { delivery_id: deliveryId }
  },
})

export const webhookRoutes = [
  listWebhooks,
  getWebhook,
  createWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
  resendDelivery,
]

/** Checks that the schema cannot express. */
function checkWebhook(webhook: { url?: string | undefined; events?: readonly unknown[] | undefined }, { checkSource }: Context): void {
  const urlProblems = webhook.url === undefined ? [] : checkSource(webhook.url)
  const problems = [
    ...(urlProblems.length > 0 ? [{ field: 'url', message: urlProblems.join('; ') }] : []),
    ...(webhook.events?.length === 0 ? [{ field: 'events', message: 'must not be empty' }] : []),
  ]
  requireValid(problems)
}

/** Returns the organisation. A user may omit its own. */
function resolveOrganisation(caller: Parameters<typeof requestedOrganisation>[0], organisationId: string | undefined): string {
  return organisationId === undefined ? requiredOrganisation(caller, undefined) : requestedOrganisation(caller, organisationId)
}
