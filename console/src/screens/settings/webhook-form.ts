import type { Delivery, NewWebhook } from '~/api/supervision'
import { plain } from '~/ui/format'

/** The key of the queries for webhooks. */
export const KEY = ['webhooks']

const SECRET_BYTES = 32

/** Random secret. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The request for a form. Types are separated by spaces or commas. */
export function webhookOf(url: string, types: string, format: string, secret: string): NewWebhook {
  const wanted = types.split(/[\s,]+/).filter(Boolean)
  return { url: url.trim(), ...(wanted.length > 0 && { event_types: wanted }), format, secret }
}

export interface Outcome {
  readonly text: string
  readonly tone: 'quiet' | 'good' | 'bad'
}

/** The outcome of a test in words. */
export function outcomeOf({ status, response_status: answer, error, attempts }: Delivery): Outcome {
  if (status === 'delivered') return { text: `Test delivered, status ${answer ?? 'unknown'}`, tone: 'good' }
  const why = error === undefined ? '' : plain(error)
  if (status === 'dead') return { text: `Test failed: ${why}`, tone: 'bad' }
  if (attempts > 0) return { text: `Test failed: ${why}. The server tries again.`, tone: 'bad' }
  return { text: 'Test sent. Waiting for the receiver…', tone: 'quiet' }
}
