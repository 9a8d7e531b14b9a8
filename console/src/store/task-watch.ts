import { api, body } from '~/api/client'
import type { Task, TaskStatus } from '~/api/types'
import type { Feed, FeedEvent } from './feed'
import { Tasks, taskOf } from './tasks'

/** Changes come in bursts: one request answers all of them. */
const READ_AFTER_MS = 400
/** If more tasks have changed, the whole list is read. */
const MOST_READ_ALONE = 10
/** The server has at most this many tasks in a page. */
const MOST_IN_PAGE = 1_000
export const PAGE = 200

/** Tasks that a page shows. */
export interface TaskSource {
  /** Reads the tasks, at least `count` of them if there are so many, and whether there are more. */
  readonly read: (count: number) => Promise<TaskPage>
  readonly readOne: (taskId: string) => Promise<Task>
  /** Whether a task belongs to the list. A filtered list loses tasks when their status changes. */
  readonly includes: (task: Task) => boolean
  /** The status with which other tasks can become part of the list. */
  readonly gains: TaskStatus
}

export interface TaskPage {
  readonly tasks: readonly Task[]
  readonly hasMore: boolean
}

export interface TaskFilter {
  readonly status?: TaskStatus
  readonly agentType?: string
}

/** The tasks of a source as they are now: read from the server, and kept up to date by the feed. */
export class TaskWatch {
  readonly tasks = new Tasks()
  readonly #source: TaskSource
  #leave = () => {}
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #changed = new Set<string>()
  #isStale = false
  #failure: unknown
  #hasMore = false
  #wanted = PAGE
  #turn = 0
  #isClosed = false

  constructor(source: TaskSource) {
    this.#source = source
  }

  /** Why the tasks could not be read, the last time that this was tried. */
  get failure(): unknown {
    return this.#failure
  }

  get hasMore(): boolean {
    return this.#hasMore
  }

  follow(feed: Pick<Feed, 'follow'>): void {
    this.#leave = feed.follow({
      onEvent: (event) => this.#receive(event),
      onOpen: () => void this.load(),
      onMissed: () => this.#readSoon(),
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#leave()
  }

  async load(): Promise<void> {
    this.#isStale = false
    this.#changed.clear()
    const turn = ++this.#turn
    try {
      const { tasks, hasMore } = await this.#source.read(this.#wanted)
      // A later request may have its response first.
      if (this.#isClosed || turn !== this.#turn) return
      this.#failure = undefined
      this.#hasMore = hasMore
      this.tasks.load(tasks)
    } catch (error) {
      this.#failure = error
      this.tasks.notifier.changed()
    }
  }

  /** Loads older tasks, too. */
  async more(): Promise<void> {
    this.#wanted += PAGE
    await this.load()
  }

  /** Reads one task again. */
  async refresh(taskId: string): Promise<void> {
    const task = await this.#source.readOne(taskId)
    if (this.#isClosed) return
    if (this.#source.includes(task)) this.tasks.put(task)
    else this.#readSoon()
  }

  #receive(event: FeedEvent): void {
    const taskId = taskOf(event)
    if (taskId === undefined) return
    if (this.tasks.receive(event)) {
      this.#changed.add(taskId)
      this.#soon()
    } else if (event.event_type === `task.${this.#source.gains}`) {
      this.#readSoon()
    }
  }

  #readSoon(): void {
    this.#isStale = true
    this.#soon()
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#read()
    }, READ_AFTER_MS)
  }

  /** Attempts and costs are not in the events. */
  async #read(): Promise<void> {
    if (this.#isStale || this.#changed.size > MOST_READ_ALONE) {
      await this.load()
      return
    }
    const changed = [...this.#changed]
    this.#changed.clear()
    // A task that cannot be read now keeps the status of its event.
    await Promise.all(changed.map((taskId) => this.refresh(taskId).catch(() => undefined)))
  }
}

const readOne = (taskId: string) => body(api.GET('/api/v1/tasks/{task_id}', { params: { path: { task_id: taskId } } }))

/** The tasks of the user, newest first. */
export function listed({ status, agentType }: TaskFilter): TaskSource {
  return {
    readOne,
    gains: status ?? 'pending',
    includes: (task) =>
      (status === undefined || task.status === status) && (agentType === undefined || task.agent_type === agentType),
    read: async (count) => {
      const tasks: Task[] = []
      let cursor: string | undefined
      do {
        const query = { status, agent_type: agentType, cursor, limit: Math.min(MOST_IN_PAGE, count - tasks.length) }
        const page = await body(api.GET('/api/v1/tasks', { params: { query } }))
        tasks.push(...page.tasks)
        cursor = page.next_cursor
      } while (cursor !== undefined && tasks.length < count)
      return { tasks, hasMore: cursor !== undefined }
    },
  }
}

/** A task, and all tasks that are connected with it. */
export function connected(taskId: string): TaskSource {
  return {
    readOne,
    gains: 'pending',
    includes: () => true,
    read: async () => {
      const params = { path: { task_id: taskId } }
      const { tasks } = await body(api.GET('/api/v1/tasks/{task_id}/graph', { params }))
      return { tasks, hasMore: false }
    },
  }
}
