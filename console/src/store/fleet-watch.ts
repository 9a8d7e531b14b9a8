import { api, body } from '~/api/client'
import type { Sandbox } from '~/api/types'
import type { Feed } from './feed'
import { Fleet } from './fleet'
import { newest } from './history'

const PAGE = 500
/** Changes come in bursts: one request covers all of them. */
const RELOAD_AFTER_MS = 400
/** Maximum number of events in one step of an agent. */
const RECALLED_EVENTS = 20

/** The live fleet: the list of the server, and the events since. */
export class FleetWatch {
  readonly fleet: Fleet
  readonly #feed: Feed
  #leave = () => {}
  #reload: ReturnType<typeof setTimeout> | undefined
  #failure: unknown
  #isClosed = false
  #withEnded = false
  readonly #recalled = new Set<string>()
  #recalling: Promise<void> = Promise.resolve()

  constructor(feed: Feed) {
    this.#feed = feed
    this.fleet = new Fleet(() => this.#reloadSoon())
  }

  /** Why the last read of the list failed. */
  get failure(): unknown {
    return this.#failure
  }

  start(): void {
    this.#leave = this.#feed.follow({
      onEvent: ({ sandbox_id, ...event }) => {
        if (sandbox_id !== undefined) this.fleet.receive({ ...event, sandbox_id })
      },
      onOpen: () => void this.load(),
      onMissed: () => this.#reloadSoon(),
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#reload)
    this.#leave()
  }

  /** Whether ended sandboxes are included. */
  setWithEnded(withEnded: boolean): void {
    if (this.#withEnded === withEnded) return
    this.#withEnded = withEnded
    void this.load()
  }

  async load(): Promise<void> {
    clearTimeout(this.#reload)
    this.#reload = undefined
    try {
      const sandboxes = await all(this.#withEnded)
      if (this.#isClosed) return
      this.#failure = undefined
      this.fleet.load(sandboxes)
    } catch (error) {
      this.#failure = error
      this.fleet.notifier.changed()
    }
  }

  /**
   * Reads the current activity of a sandbox once, because events report only later activities. Only for a visible
   * sandbox: the audit log records each request as a read.
   */
  recall({ sandbox_id: id, run }: Sandbox): void {
    if (this.#recalled.has(id)) return
    this.#recalled.add(id)
    this.#recalling = this.#recalling.then(async () => {
      if (this.#isClosed) return
      const events = await newest(id, run === undefined ? 'command.' : 'agent.', RECALLED_EVENTS).catch(() => [])
      this.fleet.remember(id, events)
    })
  }

  #reloadSoon(): void {
    this.#reload ??= setTimeout(() => void this.load(), RELOAD_AFTER_MS)
  }
}

async function all(ended: boolean): Promise<Sandbox[]> {
  const sandboxes: Sandbox[] = []
  let cursor: string | undefined
  do {
    const page = await body(api.GET('/api/v1/sandboxes', { params: { query: { limit: PAGE, cursor, ended } } }))
    sandboxes.push(...page.sandboxes)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return sandboxes
}
