import { randomBytes } from 'node:crypto'
import type { LogEvent, Review, Sandbox, Task } from '~/api/types'
import { isEnded } from '~/store/tasks'

/** Timeout for a busy machine; no test measures time. */
export const PATIENCE_MS = 300_000
const AT_ONCE = 100

/** User of the server. */
export interface User {
  readonly id: string
  readonly api: Api
}

/** Creates a user; without a name, one with a new name. */
export async function newUser(admin: Api, id = `p-${randomBytes(4).toString('hex')}`): Promise<User> {
  const { key } = await admin.post<{ key: string }>('/admin/keys', { user_id: id })
  return { id, api: new Api(admin.url, key) }
}

/** API client with the key of a user, for the setup and the checks of a test. */
export class Api {
  constructor(
    readonly url: string,
    readonly key: string,
  ) {}

  get<T>(path: string): Promise<T> {
    return this.#send('GET', path)
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return this.#send('POST', path, body)
  }

  async delete(path: string): Promise<void> {
    await this.#send('DELETE', path)
  }

  /** Starts an agent; `agents.ts` has the bodies. Returns the id of the sandbox. */
  async spawn(body: object): Promise<string> {
    return (await this.post<{ sandbox_id: string }>('/api/v1/sandboxes', body)).sandbox_id
  }

  /** Creates a sandbox without an agent for this thread. Returns its id. */
  async sandbox(threadId: string): Promise<string> {
    return (await this.post<{ sandbox_id: string }>(`/threads/${threadId}/sandbox`)).sandbox_id
  }

  async read(sandboxId: string): Promise<Sandbox> {
    return (await this.get<{ sandbox: Sandbox }>(`/api/v1/sandboxes/${sandboxId}`)).sandbox
  }

  /** Runs a shell command in the sandbox, and returns its output. */
  async run(sandboxId: string, command: string): Promise<string> {
    return (await this.post<{ stdout: string }>(`/sandboxes/${sandboxId}/exec`, { command })).stdout
  }

  /** The whole log, from the beginning. */
  async events(sandboxId: string): Promise<LogEvent[]> {
    const all: LogEvent[] = []
    for (;;) {
      const path = `/api/v1/sandboxes/${sandboxId}/events?limit=1000&after_seq=${all.at(-1)?.seq ?? 0}`
      const { events } = await this.get<{ events: LogEvent[] }>(path)
      if (events.length === 0) return all
      all.push(...events)
    }
  }

  /** Appends events of an agent to the log, in batches of the maximum size. */
  async tell(sandboxId: string, events: readonly { event_type: string; event_data: object }[]): Promise<void> {
    for (let from = 0; from < events.length; from += AT_ONCE) {
      const some = events.slice(from, from + AT_ONCE).map((event) => ({ ...event, source: 'agent' }))
      await this.post(`/api/v1/sandboxes/${sandboxId}/events`, some)
    }
  }

  async reviews(sandboxId: string): Promise<Review[]> {
    return (await this.get<{ reviews: Review[] }>(`/api/v1/sandboxes/${sandboxId}/reviews`)).reviews
  }

  async end(sandboxId: string): Promise<void> {
    await this.delete(`/api/v1/sandboxes/${sandboxId}`)
  }

  /** Cancels all tasks and ends all sandboxes of the user. */
  async endAll(): Promise<void> {
    const { tasks } = await this.get<{ tasks: Task[] }>('/api/v1/tasks?limit=1000')
    const open = tasks.filter((each) => !isEnded(each))
    // A task may end by itself meanwhile.
    await Promise.all(open.map((each) => this.post(`/api/v1/tasks/${each.task_id}/cancel`).catch(() => undefined)))
    const { sandboxes } = await this.get<{ sandboxes: Sandbox[] }>('/api/v1/sandboxes?limit=500')
    await Promise.all(sandboxes.filter((each) => each.role === 'owner').map((each) => this.end(each.sandbox_id)))
  }

  /** Waits for a condition that no page shows. */
  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    while (!(await isSo())) {
      if (Date.now() > deadline) throw new Error(`never: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async #send<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? (undefined as T) : JSON.parse(text)
  }
}
