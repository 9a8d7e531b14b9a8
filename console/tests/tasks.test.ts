import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Task } from '~/api/types'
import { agentTypes, arranged, dependentsOf, downstreamOf, noteOf } from '~/store/task-view'
import { type TaskSource, TaskWatch } from '~/store/task-watch'
import { isEditable, isEnded, isRetryable, Tasks } from '~/store/tasks'
import { news, TestFeed, task } from './tasks'

function tasksOf(...all: Task[]): Tasks {
  const tasks = new Tasks((run) => run())
  tasks.load(all)
  return tasks
}

describe('Tasks', () => {
  it('takes the status and its reason from an event, and leaves other tasks alone', () => {
    const tasks = tasksOf(task('a', { status: 'running' }), task('b'))
    const other = tasks.find('b')
    const next = '2026-01-01T10:05:00Z'
    expect(tasks.receive(news('a', 'retrying', { reason: 'model overloaded', next_attempt_at: next }))).toBe(true)
    expect(tasks.find('a')).toMatchObject({ status: 'retrying', message: 'model overloaded', next_attempt_at: next })
    expect(tasks.find('b')).toBe(other)
  })

  it('ignores an event that is older than the list', () => {
    const tasks = tasksOf(task('a', { status: 'completed', updated_at: '2026-01-01T11:00:00Z' }))
    expect(tasks.receive(news('a', 'running'))).toBe(true)
    expect(tasks.find('a')?.status).toBe('completed')
  })

  it('does not know tasks that are not loaded', () => {
    const tasks = tasksOf(task('a'))
    expect(tasks.receive(news('b', 'ready'))).toBe(false)
    tasks.put(task('b'))
    expect(tasks.list.map((one) => one.task_id)).toEqual(['a'])
  })

  it('allows what the server allows in a status', () => {
    expect(isEditable(task('a', { status: 'blocked' }))).toBe(true)
    expect(isEditable(task('a', { status: 'running' }))).toBe(false)
    expect(isRetryable(task('a', { status: 'cancelled' }))).toBe(true)
    expect(isRetryable(task('a', { status: 'completed' }))).toBe(false)
    expect(isEnded(task('a', { status: 'retrying' }))).toBe(false)
  })
})

describe('the list of tasks', () => {
  it('has the newest first, and tasks of one graph in the order of their dependencies', () => {
    const all = [
      task('old', { created_at: '2025-01-01T00:00:00Z' }),
      task('last', { depends_on: ['middle'] }),
      task('middle', { depends_on: ['first'] }),
      task('first'),
    ]
    expect(arranged(all).map((one) => one.task_id)).toEqual(['first', 'middle', 'last', 'old'])
  })

  it('finds direct and indirect dependents', () => {
    const all = [task('a'), task('b', { depends_on: ['a'] }), task('c', { depends_on: ['b'] }), task('d')]
    expect(dependentsOf(all, 'a').map((one) => one.task_id)).toEqual(['b'])
    expect([...downstreamOf(all, 'a')].sort()).toEqual(['b', 'c'])
  })

  it('lists agent types once, and notes the attempt', () => {
    expect(agentTypes([task('a', { agent_type: 'qa' }), task('b', { agent_type: 'coder' }), task('c')])).toEqual([
      'coder',
      'qa',
    ])
    const attempts = [1, 2].map((attempt) => ({ attempt })) as Task['attempts']
    expect(noteOf(task('a', { attempts, agent_type: 'qa' }))).toBe('attempt 2 · qa')
    expect(noteOf(task('a'))).toBe('')
  })
})

/** A source that records its calls. */
class TestSource implements TaskSource {
  readonly asked: string[] = []
  all: Task[]
  gains: TaskSource['gains'] = 'pending'
  includes = (_: Task) => true

  constructor(...all: Task[]) {
    this.all = all
  }

  readonly read = (count: number) => {
    this.asked.push(`read ${count}`)
    return Promise.resolve({ tasks: this.all.slice(0, count), hasMore: this.all.length > count })
  }

  readonly readOne = (taskId: string) => {
    this.asked.push(taskId)
    const found = this.all.find((one) => one.task_id === taskId)
    return found === undefined ? Promise.reject(new Error('404')) : Promise.resolve(found)
  }
}

describe('TaskWatch', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  async function watching(source: TestSource) {
    const feed = new TestFeed()
    const watch = new TaskWatch(source)
    watch.follow(feed)
    await vi.advanceTimersByTimeAsync(0)
    source.asked.length = 0
    return { watch, feed }
  }

  it('shows a status at once, and then reads the task with its attempts', async () => {
    const source = new TestSource(task('a', { status: 'running' }), task('b'))
    const { watch, feed } = await watching(source)
    source.all[0] = task('a', { status: 'completed', cost_usd: 2, updated_at: '2026-01-01T10:02:00Z' })
    feed.follower?.onEvent(news('a', 'completed'))
    expect(watch.tasks.find('a')).toMatchObject({ status: 'completed', cost_usd: 0 })
    await vi.advanceTimersByTimeAsync(500)
    expect(source.asked).toEqual(['a'])
    expect(watch.tasks.find('a')?.cost_usd).toBe(2)
  })

  it('reads the list after a new task, and not after an event of another list', async () => {
    const source = new TestSource(task('a'))
    const { watch, feed } = await watching(source)
    feed.follower?.onEvent(news('other', 'running'))
    await vi.advanceTimersByTimeAsync(500)
    expect(source.asked).toEqual([])
    source.all.unshift(task('new'))
    feed.follower?.onEvent(news('new', 'pending'))
    feed.follower?.onEvent(news('a', 'ready'))
    await vi.advanceTimersByTimeAsync(500)
    expect(source.asked).toEqual(['read 200'])
    expect(watch.tasks.find('new')).toBeDefined()
  })

  it('reads the list once after many changes', async () => {
    const all = Array.from({ length: 30 }, (_, at) => task(`t${at}`))
    const source = new TestSource(...all)
    const { feed } = await watching(source)
    for (const one of all) feed.follower?.onEvent(news(one.task_id, 'ready'))
    await vi.advanceTimersByTimeAsync(500)
    expect(source.asked).toEqual(['read 200'])
  })

  it('drops a task that the filter no longer includes', async () => {
    const source = new TestSource(task('a', { status: 'running' }))
    source.includes = (one) => one.status === 'running'
    const { watch, feed } = await watching(source)
    source.all = [task('a', { status: 'completed' })]
    feed.follower?.onEvent(news('a', 'completed'))
    await vi.advanceTimersByTimeAsync(450)
    expect(source.asked).toEqual(['a'])
    source.all = []
    await vi.advanceTimersByTimeAsync(450)
    expect(watch.tasks.list).toEqual([])
  })

  it('loads older tasks on request', async () => {
    const source = new TestSource(...Array.from({ length: 250 }, (_, at) => task(`t${at}`)))
    const { watch } = await watching(source)
    expect(watch.hasMore).toBe(true)
    await watch.more()
    expect(watch.tasks.list).toHaveLength(250)
    expect(watch.hasMore).toBe(false)
  })

  it('keeps its tasks if the server cannot be reached, and says why', async () => {
    const source = new TestSource(task('a'))
    const { watch, feed } = await watching(source)
    Object.assign(source, { read: () => Promise.reject(new Error('unreachable')) })
    feed.follower?.onMissed()
    await vi.advanceTimersByTimeAsync(500)
    expect(watch.failure).toBeInstanceOf(Error)
    expect(watch.tasks.list).toHaveLength(1)
    watch.close()
    expect(feed.follower).toBeUndefined()
  })
})
