import type { Task, TaskStatus } from '~/api/types'
import type { FeedEvent, Follower } from '~/store/feed'

export const AT = '2026-01-01T10:00:00Z'

export function task(id: string, more: Partial<Task> = {}): Task {
  return {
    task_id: id,
    user_id: 'ann',
    title: `Title of ${id}`,
    description: '',
    status: 'pending',
    priority: 'medium',
    depends_on: [],
    timeout_minutes: 60,
    max_retries: 3,
    context: {},
    constraints: {},
    attempts: [],
    cost_usd: 0,
    created_at: AT,
    updated_at: AT,
    ...more,
  }
}

export function news(id: string, status: TaskStatus, more = {}, timestamp = '2026-01-01T10:01:00Z'): FeedEvent {
  return { seq: 1, event_type: `task.${status}`, timestamp, data: { task_id: id, status, ...more } }
}

/** A feed that a test drives. */
export class TestFeed {
  follower: Follower | undefined

  follow(follower: Follower): () => void {
    this.follower = follower
    follower.onOpen()
    return () => {
      this.follower = undefined
    }
  }
}
