import { ask } from './client'
import { ApiError } from './problem'

/** A notice about an event that may need a person. */
export interface Alert {
  readonly alert_id: string
  readonly at: string
  readonly type: string
  readonly severity: Severity
  readonly title: string
  readonly detail?: string
  readonly user_id?: string
  readonly sandbox_id?: string
  readonly run_id?: string
  readonly task_id?: string
  /** The log with the event: the id of a sandbox, or the log of the tasks of a user. */
  readonly log: string
  readonly seq: number
  readonly acknowledged_by?: string
  readonly acknowledged_at?: string
}

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

export interface Webhook {
  readonly webhook_id: string
  readonly url: string
  readonly event_types: readonly string[]
  readonly format?: string
  readonly user_id?: string
  readonly created_at: string
}

export interface NewWebhook {
  readonly url: string
  /** Types, and prefixes that end with a dot; all events if absent. */
  readonly event_types?: readonly string[]
  readonly format: string
  readonly secret: string
}

/** A delivery of one event to one webhook. */
export interface Delivery {
  readonly delivery_id: string
  readonly webhook_id: string
  readonly event_type: string
  readonly status: 'pending' | 'delivered' | 'dead'
  readonly attempts: number
  readonly response_status?: number
  readonly error?: string
  readonly created_at: string
}

const MOST_ALERTS = 200
const NEWEST = 100

/** The newest alerts, or null if the server has no alerts. */
export async function readAlerts(): Promise<readonly Alert[] | null> {
  const page = await offered<{ alerts: readonly Alert[] }>(`/api/v1/alerts?limit=${MOST_ALERTS}`)
  return page?.alerts ?? null
}

export async function acknowledge(alertId: string): Promise<void> {
  await ask(`/api/v1/alerts/${encodeURIComponent(alertId)}/acknowledge`, { method: 'POST' })
}

/** The webhooks of the user, or null if the server has none to offer. */
export async function readWebhooks(): Promise<readonly Webhook[] | null> {
  const page = await offered<{ webhooks: readonly Webhook[] }>('/api/v1/webhooks')
  return page?.webhooks ?? null
}

export async function addWebhook(wanted: NewWebhook): Promise<Webhook> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await ask('/api/v1/webhooks', { method: 'POST', headers, body: JSON.stringify(wanted) })
  return (await answer.json()) as Webhook
}

export async function removeWebhook(webhookId: string): Promise<void> {
  await ask(pathOf(webhookId), { method: 'DELETE' })
}

/** Sends a test event to the receiver. */
export async function testWebhook(webhookId: string): Promise<Delivery> {
  const answer = await ask(`${pathOf(webhookId)}/test`, { method: 'POST' })
  return (await answer.json()) as Delivery
}

/** A delivery of the newest ones, as it is now. */
export async function readDelivery({ webhook_id: webhook, delivery_id: id }: Delivery): Promise<Delivery | null> {
  return (await deliveries(webhook, `limit=${NEWEST}`)).find((one) => one.delivery_id === id) ?? null
}

/** The deliveries of a webhook that the server gave up, newest first. */
export function readDead(webhookId: string): Promise<readonly Delivery[]> {
  return deliveries(webhookId, 'status=dead')
}

async function deliveries(webhookId: string, query: string): Promise<readonly Delivery[]> {
  const answer = await ask(`${pathOf(webhookId)}/deliveries?${query}`)
  return ((await answer.json()) as { deliveries: readonly Delivery[] }).deliveries
}

export async function replay({ webhook_id: webhook, delivery_id: delivery }: Delivery): Promise<void> {
  await ask(`${pathOf(webhook)}/deliveries/${encodeURIComponent(delivery)}/replay`, { method: 'POST' })
}

function pathOf(webhookId: string): string {
  return `/api/v1/webhooks/${encodeURIComponent(webhookId)}`
}

/** The body of a response, or undefined if the server does not have the route. */
async function offered<T>(path: string): Promise<T | undefined> {
  try {
    const answer = await ask(path)
    return (await answer.json()) as T
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
