import { invalid } from '@vitascope/errors'
import { Webhook } from '@vitascope/proto/catalogue/v1/webhook'
import { z } from 'zod'
import { flag, id, list, oneOf, organisationIdField, text } from '../fields.ts'
import { namedOrganisation, requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { type Context, Reply, route } from '../route.ts'
import { DeliveryRecord, deliveryView, EVENTS, NewWebhookRecord, WebhookRecord, WebhookSecret, webhookView } from './webhook-view.ts'

const url = text(
  2_000,
  { min: 1 },
  {
    description: 'Where events are posted: http or https, and publicly reachable.',
    format: 'uri',
    example: 'https://hooks.example.org/vitascope',
  },
)
const events = list(oneOf(EVENTS), { max: 50 }, { description: 'What it asks for; at least one.', example: ['video.ready'] })
const enabled = flag({ description: '0: nothing is queued for it, and what waits stands still.' })
const ofWebhook = z.object({ webhookId: id('webhook') })
const disabled = { webhook_disabled: 'the webhook is disabled' }

export const listWebhooks = route({
  get: ['/webhook'],
  section: 'Added',
  access: 'user',
  summary: 'List the webhooks of an organisation',
  description: 'Oldest first.',
  query: z.object({ ...pageQuery, organisation_id: organisationIdField().optional() }),
  answer: z.array(WebhookRecord),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, query.organisation_id)
    const { rows, more } = await collectRows({ ...query, part: 100 }, async (page) => {
      const { webhooks, nextPageToken } = await services.webhooks.listWebhooks({ organisationId, ...page }, call)
      return { rows: webhooks, nextPageToken }
    })
    const narrowed = { organisation_id: query.organisation_id }
    return new Reply(rows.map(webhookView), { headers: nextLink(publicUrl, '/webhook', { ...query, more, query: narrowed }) })
  },
})

export const getWebhook = route({
  get: ['/webhook/:webhookId'],
  section: 'Added',
  access: 'user',
  summary: 'Read a webhook',
  params: ofWebhook,
  answer: WebhookRecord,
  async handle({ params }, { services, call }) {
    return webhookView(given((await services.webhooks.getWebhook(params, call)).webhook, 'webhook'))
  },
})

export const createWebhook = route({
  post: ['/webhook'],
  section: 'Added',
  access: 'user',
  summary: 'Create a webhook',
  description:
    'Events are posted to it as Standard Webhooks has them, signed with the secret of this answer: at least once, in order for each video, ' +
    'again and again for 24 hours. After that it is disabled.',
  status: 201,
  payload: z.strictObject({ organisation_id: organisationIdField().optional(), url, events, enabled: enabled.default(true) }),
  answer: NewWebhookRecord,
  refusals: { webhooks_full: 'the organisation has 20 webhooks' },
  async handle({ payload }, context) {
    const { caller, services, call } = context
    const organisationId = named(caller, payload.organisation_id)
    checkWebhook(payload, context)
    const request = { organisationId, url: payload.url, events: [...payload.events], enabled: payload.enabled }
    const { webhook, secret } = await services.webhooks.createWebhook(request, call)
    return { ...webhookView(given(webhook, 'webhook')), secret }
  },
})

export const updateWebhook = route({
  put: ['/webhook/:webhookId'],
  section: 'Added',
  access: 'user',
  summary: 'Change a webhook',
  description: 'Takes any of its fields. One that is enabled again goes on with what waits for it.',
  params: ofWebhook,
  payload: z.strictObject({ url: url.optional(), events: events.optional(), enabled: enabled.optional() }),
  answer: WebhookRecord,
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
    return webhookView(given((await context.services.webhooks.updateWebhook({ webhook, updateMask }, context.call)).webhook, 'webhook'))
  },
})

export const deleteWebhook = route({
  delete: ['/webhook/:webhookId'],
  section: 'Added',
  access: 'user',
  summary: 'Delete a webhook',
  description: 'With its log, and what waits for it.',
  params: ofWebhook,
  answer: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.webhooks.deleteWebhook(params, call)
    return { deleted: true as const }
  },
})

export const rotateWebhookSecret = route({
  post: ['/webhook/:webhookId/secret'],
  section: 'Added',
  access: 'user',
  summary: 'Give a webhook a new secret',
  description: 'For 24 hours events are signed with the one before as well; of two before, with the later one.',
  params: ofWebhook,
  answer: WebhookSecret,
  async handle({ params }, { services, call }) {
    const { secret } = await services.webhooks.rotateSecret(params, call)
    return { webhook_id: params.webhookId, secret }
  },
})

export const testWebhook = route({
  post: ['/webhook/:webhookId/test'],
  section: 'Added',
  access: 'user',
  summary: 'Send a test event to a webhook',
  description: 'Of type `webhook.test`; the log shows what became of it.',
  status: 202,
  params: ofWebhook,
  answer: z.object({ delivery_id: shown.id('delivery') }),
  refusals: { ...disabled, delivery_waiting: 'the test before has not ended' },
  async handle({ params }, { services, call }) {
    const { deliveryId } = await services.webhooks.testWebhook(params, call)
    return { delivery_id: deliveryId }
  },
})

export const listDeliveries = route({
  get: ['/webhook/:webhookId/delivery'],
  section: 'Added',
  access: 'user',
  summary: 'Read the log of a webhook',
  description: 'Newest first; of seven days, and of 10,000 deliveries at most.',
  params: ofWebhook,
  query: z.object(pageQuery),
  answer: z.array(DeliveryRecord),
  async handle({ params: { webhookId }, query }, { services, call, publicUrl }) {
    const { rows, more } = await collectRows({ ...query, part: 1_000 }, async (page) => {
      const { deliveries, nextPageToken } = await services.webhooks.listDeliveries({ webhookId, ...page }, call)
      return { rows: deliveries, nextPageToken }
    })
    return new Reply(rows.map(deliveryView), { headers: nextLink(publicUrl, `/webhook/${webhookId}/delivery`, { ...query, more }) })
  },
})

export const resendDelivery = route({
  post: ['/webhook/:webhookId/delivery/:deliveryId/resend'],
  section: 'Added',
  access: 'user',
  summary: 'Send an event of the log once more',
  description: 'As a new delivery with the `webhook-id` of the event.',
  status: 202,
  params: z.object({ webhookId: id('webhook'), deliveryId: id('delivery') }),
  answer: z.object({ delivery_id: shown.id('delivery') }),
  refusals: { ...disabled, delivery_waiting: 'it has not ended yet' },
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

/** What the schema cannot say. */
function checkWebhook(sent: { url?: string | undefined; events?: readonly unknown[] | undefined }, { checkSource }: Context): void {
  const shows = sent.url === undefined ? [] : checkSource(sent.url)
  const problems = [
    ...(shows.length > 0 ? [{ field: 'url', message: shows.join('; ') }] : []),
    ...(sent.events?.length === 0 ? [{ field: 'events', message: 'must not be empty' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
}

/** A user may leave out its own organisation. */
function named(caller: Parameters<typeof namedOrganisation>[0], organisationId: string | undefined): string {
  return organisationId === undefined ? requiredOrganisation(caller, undefined) : namedOrganisation(caller, organisationId)
}
