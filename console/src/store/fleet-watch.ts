import { api, ask, body } from '~/api/client'
import type { Sandbox } from '~/api/types'
import { connections } from '~/live/connections'
import { CONNECTING, type LiveState } from '~/live/state'
import { LiveStream } from '~/live/stream'
import { Fleet } from './fleet'
import { newest } from './history'

const PAGE = 500
/** Changes come in bursts: one question answers all of them. */
const RELOAD_AFTER_MS = 400
/** Output and files come in floods, and a row shows neither. */
const TYPES = 'sandbox.,agent.,user.,guardian.,command.started,command.completed'

/** The events of a step of an agent are fewer. */
const RECALLED_EVENTS = 20

/** The fleet as it is now: the list from the server, and a connection that keeps it so. */
export class FleetWatch {
  readonly fleet: Fleet
  readonly #stream: LiveStream
  #reload: ReturnType<typeof setTimeout> | undefined
  #failure: unknown
  #isClosed = false
  #withEnded = false
  readonly #recalled = new Set<string>()
  #recalling: Promise<void> = Promise.resolve()

  constructor() {
    this.fleet = new Fleet(() => this.#reloadSoon())
    this.#stream = new LiveStream({
      url: () => `/api/v1/events?event_types=${TYPES}`,
      fetch: ask,
      onMessage: (message) => {
        if (message.event === 'event') this.fleet.receive(JSON.parse(message.data))
        // Something was left out: the list has how it ended.
        else if (message.event === 'missed') this.#reloadSoon()
      },
      // The stream has no past, so the list is read after it stands: nothing falls between the two.
      onOpen: () => void this.load(),
      onState: (state) => this.#changed(state),
    })
  }

  /** Why the list could not be read, the last time it was tried. */
  get failure(): unknown {
    return this.#failure
  }

  start(): void {
    this.#changed(CONNECTING)
    this.#stream.start()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#reload)
    this.#stream.close()
    connections.remove(this)
  }

  /** Whether those that have ended are wanted, too. */
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
   * Asks once what a sandbox does: events only tell it of those that begin something else. Only for a sandbox that a
   * person sees, because the audit log records each request as a read of that sandbox.
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

  #changed(state: LiveState): void {
    if (!this.#isClosed) connections.put(this, { state, retryNow: () => this.#stream.retryNow() })
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
