import { describe, expect, it } from 'vitest'
import type { Run, Sandbox } from '~/api/types'
import { type AskedReview, merged, neighbour, type Sources } from '~/store/inbox'
import { event } from './events'

const NOW = Date.parse('2026-01-02T10:00:00Z')

function review(id: string, at: string, status: AskedReview['status'] = 'pending'): AskedReview {
  return { review_id: id, created_at: at, status, sandbox_id: 's', task_title: 't', user_id: 'ann' } as AskedReview
}

function failed(id: string, endedAt: string | undefined, more: Partial<Run> = {}): Sandbox {
  const run = { run_id: id, status: 'failed', ended_at: endedAt, reason: 'exit status 3', ...more } as Run
  return { sandbox_id: `sbx-${id}`, thread_id: 'thread', user_id: 'ann', run } as Sandbox
}

function inbox(part: Partial<Sources>) {
  const none = {
    reviews: [],
    failed: [],
    interventions: [],
    seen: new Set<string>(),
    held: new Set<string>(),
    now: NOW,
  }
  return merged({ ...none, ...part })
}

const keys = (part: Partial<Sources>) => inbox(part).map((item) => item.key)

describe('the inbox', () => {
  it('lists questions first, oldest first, then notices, newest first', () => {
    const stepIn = { ...event(7, 'guardian.intervention', { content: 'stop', source: 'eve' }) }
    const found = inbox({
      reviews: [review('young', '2026-01-02T09:00:00Z'), review('old', '2026-01-01T09:00:00Z')],
      failed: [failed('early', '2026-01-02T01:00:00Z'), failed('late', '2026-01-02T08:00:00Z')],
      interventions: [{ sandbox: failed('x', undefined), event: { ...stepIn, created_at: '2026-01-02T05:00:00Z' } }],
    })
    expect(found.map((item) => item.key)).toEqual(['old', 'young', 'late', 'e7', 'early'])
    expect(found[3]).toMatchObject({ kind: 'intervention', message: 'stop', by: 'eve', seq: 7 })
  })

  it('drops notices after a day or when dismissed, and never a question', () => {
    expect(keys({ failed: [failed('a', '2026-01-01T09:59:00Z'), failed('b', '2026-01-01T10:01:00Z')] })).toEqual(['b'])
    expect(keys({ failed: [failed('b', '2026-01-02T09:00:00Z')], seen: new Set(['b']) })).toEqual([])
    expect(keys({ reviews: [review('q', '2025-12-01T09:00:00Z')] })).toEqual(['q'])
  })

  it('keeps an answered question only while it is selected', () => {
    const reviews = [
      review('mine', '2026-01-02T09:00:00Z', 'approved'),
      review('before', '2026-01-02T08:00:00Z', 'rejected'),
    ]
    expect(keys({ reviews, held: new Set(['mine']) })).toEqual(['mine'])
  })

  it('distinguishes a spent budget from other failures', () => {
    const found = inbox({
      failed: [
        failed('money', '2026-01-02T09:00:00Z', { reason_code: 'budget' }),
        failed('again', '2026-01-02T09:00:00Z', { status: 'running' }),
      ],
    })
    expect(found).toMatchObject([{ key: 'money', isBudget: true, title: 'thread' }])
  })

  it('selects the next entry and stops at the ends', () => {
    const items = inbox({ reviews: [review('a', '2026-01-02T08:00:00Z'), review('b', '2026-01-02T09:00:00Z')] })
    expect(neighbour(items, undefined, 1)?.key).toBe('a')
    expect(neighbour(items, 'a', 1)?.key).toBe('b')
    expect(neighbour(items, 'b', 1)?.key).toBe('b')
    expect(neighbour(items, 'a', -1)?.key).toBe('a')
    expect(neighbour([], 'a', 1)).toBeUndefined()
  })
})
