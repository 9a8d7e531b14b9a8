import { text } from '~/api/data'
import type { EventData, Task, TaskStatus } from '~/api/types'
import type { FeedEvent } from './feed'
import { Notifier, type Soon } from './notifier'

/** All statuses, in the order in which a task can have them. */
export const TASK_STATUSES = [
  'pending',
  'ready',
  'assigned',
  'running',
  'retrying',
  'blocked',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly TaskStatus[]

const ENDED: ReadonlySet<TaskStatus> = new Set(['completed', 'failed', 'cancelled'])

export function isEnded({ status }: Task): boolean {
  return ENDED.has(status)
}

/** Whether the server changes the fields of a task in this status. */
export function isEditable({ status }: Task): boolean {
  return status === 'pending' || status === 'ready' || status === 'blocked'
}

export function isRetryable({ status }: Task): boolean {
  return status === 'failed' || status === 'cancelled'
}

/** Tasks as the server listed them, with the events since. Listeners get one notification per frame. */
export class Tasks {
  readonly notifier: Notifier
  #tasks = new Map<string, Task>()
  #list: readonly Task[] | undefined
  #isLoaded = false

  constructor(soon?: Soon) {
    this.notifier = new Notifier(soon)
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** The same array until something changes. */
  get list(): readonly Task[] {
    this.#list ??= [...this.#tasks.values()]
    return this.#list
  }

  find(taskId: string): Task | undefined {
    return this.#tasks.get(taskId)
  }

  load(tasks: readonly Task[]): void {
    this.#tasks = new Map(tasks.map((task) => [task.task_id, task]))
    this.#isLoaded = true
    this.#changed()
  }

  /** Replaces a task in its place, if it is loaded. */
  put(task: Task): void {
    if (!this.#tasks.has(task.task_id)) return
    this.#tasks.set(task.task_id, task)
    this.#changed()
  }

  /** Applies the new status of a task. Returns false if the task is not loaded. */
  receive(event: FeedEvent): boolean {
    const task = this.#tasks.get(text(event.data, 'task_id') ?? '')
    if (task === undefined) return false
    const status = TASK_STATUSES.find((one) => one === text(event.data, 'status'))
    // The list may be newer than an event that waited in the feed.
    if (status === undefined || Date.parse(event.timestamp) < Date.parse(task.updated_at)) return true
    this.put({ ...task, ...changeOf(event.data, status), updated_at: event.timestamp })
    return true
  }

  #changed(): void {
    this.#list = undefined
    this.notifier.changed()
  }
}

function changeOf(data: EventData, status: TaskStatus): Partial<Task> {
  return { status, message: text(data, 'reason'), next_attempt_at: text(data, 'next_attempt_at') }
}

/** The id of the task whose status an event contains. */
export function taskOf({ event_type: type, data }: FeedEvent): string | undefined {
  return type.startsWith('task.') ? text(data, 'task_id') : undefined
}
