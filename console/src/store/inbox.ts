import { text } from '~/api/data'
import type { components } from '~/api/schema'
import type { LogEvent, Run, Sandbox } from '~/api/types'

export type AskedReview = components['schemas']['ReviewOfAll']

const DAY_MS = 24 * 3_600_000

interface Base {
  /** Key of the item, also in the address. */
  readonly key: string
  readonly at: string
  readonly sandboxId: string
  readonly title: string
  readonly owner: string
}

/** Item that needs a person or informs one. */
export type Item =
  | (Base & { readonly kind: 'review'; readonly review: AskedReview })
  | (Base & { readonly kind: 'failure'; readonly reason: string; readonly run: Run; readonly isBudget: boolean })
  | (Base & { readonly kind: 'intervention'; readonly message: string; readonly by: string; readonly seq: number })

export interface Sources {
  readonly reviews: readonly AskedReview[]
  /** Sandboxes whose run has failed. */
  readonly failed: readonly Sandbox[]
  readonly interventions: readonly { readonly sandbox: Sandbox; readonly event: LogEvent }[]
  /** Keys of dismissed items. */
  readonly seen: ReadonlySet<string>
  /** Questions that were open since the list was opened. They stay, with their answers. */
  readonly held: ReadonlySet<string>
  readonly now: number
}

/** Questions first, the oldest at the top; then the events of the last day, newest first. */
export function merged({ reviews, failed, interventions, seen, held, now }: Sources): Item[] {
  const questions = reviews
    .filter((one) => one.status === 'pending' || held.has(one.review_id))
    .map(question)
    .sort((a, b) => a.at.localeCompare(b.at))
  const news = [...failed.flatMap(failure), ...interventions.map(intervention)]
    .filter((item) => now - Date.parse(item.at) < DAY_MS)
    .sort((a, b) => b.at.localeCompare(a.at))
  return [...questions, ...news].filter((item) => !seen.has(item.key))
}

function question(review: AskedReview): Item {
  return {
    kind: 'review',
    key: review.review_id,
    at: review.created_at,
    sandboxId: review.sandbox_id,
    title: review.task_title,
    owner: review.user_id,
    review,
  }
}

function failure(sandbox: Sandbox): Item[] {
  const { run } = sandbox
  if (run?.ended_at === undefined || run.status !== 'failed') return []
  const item = {
    kind: 'failure' as const,
    key: run.run_id,
    at: run.ended_at,
    sandboxId: sandbox.sandbox_id,
    title: sandbox.task_title ?? sandbox.thread_id,
    owner: sandbox.user_id,
    reason: run.reason ?? sandbox.reason ?? 'The agent gave no reason.',
    run,
    isBudget: run.reason_code === 'budget',
  }
  return [item]
}

function intervention({ sandbox, event }: Sources['interventions'][number]): Item {
  return {
    kind: 'intervention',
    key: event.id,
    at: event.created_at,
    sandboxId: sandbox.sandbox_id,
    title: sandbox.task_title ?? sandbox.thread_id,
    owner: sandbox.user_id,
    message: text(event.event_data, 'content') ?? text(event.event_data, 'message') ?? '',
    by: text(event.event_data, 'source') ?? event.source,
    seq: event.seq,
  }
}

/** The item before or after another one, or the nearest end. */
export function neighbour(items: readonly Item[], key: string | undefined, by: number): Item | undefined {
  const now = items.findIndex((item) => item.key === key)
  if (now < 0) return items[0]
  return items[Math.min(items.length - 1, Math.max(0, now + by))]
}
