import type { Caller } from './caller.ts'
import type { Payload, Result, Schemas } from './operation.ts'
import type { PageIterator } from './page-iterator.ts'
import { type VerifyOptions, verifyWebhook, type WebhookEvent, type WebhookHeaders } from './verify-webhook.ts'

/** Webhooks: addresses of your servers that receive events. */
export class Webhooks {
  readonly #api: Caller

  /** @internal */
  constructor(api: Caller) {
    this.#api = api
  }

  /**
   * Creates a webhook. `secret` of the result is returned only here. Throws `invalid_input`, or
   * `webhooks_full` if the organisation has 20 webhooks.
   */
  create(fields: Payload<'createWebhook'>): Promise<Schemas['NewWebhook']> {
    return this.#api.call('createWebhook', { payload: fields })
  }

  /** Lists the webhooks of the organisation, oldest first. */
  list(): PageIterator<Schemas['Webhook'], Result<'listWebhooks'>> {
    return this.#api.list('listWebhooks')
  }

  /** Returns a webhook, without its secret. Throws `webhook_not_found`. */
  get(webhookId: string): Promise<Schemas['Webhook']> {
    return this.#api.call('getWebhook', { path: { webhook_id: webhookId } })
  }

  /** Changes the address, the events or the state, and returns the webhook. Throws `webhook_not_found`. */
  update(webhookId: string, fields: Payload<'updateWebhook'>): Promise<Schemas['Webhook']> {
    return this.#api.call('updateWebhook', { path: { webhook_id: webhookId }, payload: fields })
  }

  /** Deletes a webhook. Throws `webhook_not_found`. */
  async delete(webhookId: string): Promise<void> {
    await this.#api.call('deleteWebhook', { path: { webhook_id: webhookId } })
  }

  /** Creates a new secret. Events have signatures of both secrets for 24 hours. */
  rotateSecret(webhookId: string): Promise<Result<'rotateWebhookSecret'>> {
    return this.#api.call('rotateWebhookSecret', { path: { webhook_id: webhookId } })
  }

  /** Sends an event of the type `webhook.test`. Throws `webhook_disabled`. */
  test(webhookId: string): Promise<Result<'testWebhook'>> {
    return this.#api.call('testWebhook', { path: { webhook_id: webhookId } })
  }

  /** Lists the deliveries of the last seven days, newest first. */
  deliveries(webhookId: string): PageIterator<Schemas['WebhookDelivery'], Result<'listWebhookDeliveries'>> {
    return this.#api.list('listWebhookDeliveries', { path: { webhook_id: webhookId } })
  }

  /** The same as the function `verifyWebhook`. */
  verify(
    body: string | Uint8Array,
    headers: WebhookHeaders,
    secret: string | readonly string[],
    options?: VerifyOptions,
  ): Promise<WebhookEvent> {
    return verifyWebhook(body, headers, secret, options)
  }
}
