import { randomBytes } from 'node:crypto'
import type { LogEvent, Review, Sandbox, Task } from '~/api/types'
import { isEnded } from '~/store/tasks'

/** Patience for a busy machine; nothing here is a claim about time. */
export const PATIENCE_MS = 300_000
const AT_ONCE = 100

/** Somebody whom the server knows. */
export interface User {
  readonly id: string
  readonly api: Api
}

/** Makes somebody; without a name, somebody whom nobody else knows. */
export async function newUser(admin: Api, id = `p-${randomBytes(4).toString('hex')}`): Promise<User> {
  const { key } = await admin.post<{ key: string }>('/admin/keys', { user_id: id })
  return { id, api: new Api(admin.url, key) }
}

/** The API of a server with somebody's key: what a test prepares and looks up behind the console's back. */
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

  /** Starts an agent; see `agents.ts` for the bodies. Returns the sandbox's id. */
  async spawn(body: object): Promise<string> {
    return (await this.post<{ sandbox_id: string }>('/api/v1/sandboxes', body)).sandbox_id
  }

  /** A sandbox without an agent, for this thread. Returns its id. */
  async sandbox(threadId: string): Promise<string> {
    return (await this.post<{ sandbox_id: string }>(`/threads/${threadId}/sandbox`)).sandbox_id
  }

  async read(sandboxId: string): Promise<Sandbox> {
    return (await this.get<{ sandbox: Sandbox }>(`/api/v1/sandboxes/${sandboxId}`)).sandbox
  }

  /** Runs a line of shell in it, and returns what it wrote. */
  async run(sandboxId: string, command: string): Promise<string> {
    return (await this.post<{ stdout: string }>(`/sandboxes/${sandboxId}/exec`, { command })).stdout
  }

  /** Its log from the beginning, through all pages. */
  async events(sandboxId: string): Promise<LogEvent[]> {
    const all: LogEvent[] = []
    for (;;) {
      const path = `/api/v1/sandboxes/${sandboxId}/events?limit=1000&after_seq=${all.at(-1)?.seq ?? 0}`
      const { events } = await this.get<{ events: LogEvent[] }>(path)
      if (events.length === 0) return all
      all.push(...events)
    }
  }

  /** Puts events of an agent into its log, as many at once as the server takes. */
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

  /** Cancels all tasks and ends all sandboxes of whoever has the key. */
  async endAll(): Promise<void> {
    const { tasks } = await this.get<{ tasks: Task[] }>('/api/v1/tasks?limit=1000')
    const open = tasks.filter((each) => !isEnded(each))
    // A task may end by itself meanwhile.
    await Promise.all(open.map((each) => this.post(`/api/v1/tasks/${each.task_id}/cancel`).catch(() => undefined)))
    const { sandboxes } = await this.get<{ sandboxes: Sandbox[] }>('/api/v1/sandboxes?limit=500')
    await Promise.all(sandboxes.filter((each) => each.role === 'owner').map((each) => this.end(each.sandbox_id)))
  }

  /** Waits for something that no page shows. */
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
