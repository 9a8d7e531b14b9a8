import { ask } from '~/api/client'
import type { EventData } from '~/api/types'
import { connections } from '~/live/connections'
import { CONNECTING, type LiveState } from '~/live/state'
import { LiveStream } from '~/live/stream'

/** Output and files are left out: they are frequent, and no page that uses the feed shows them. */
const TYPES =
  'sandbox.,agent.,user.,guardian.,command.started,command.completed,task.,workflow.,conductor.,anomaly.,webhook.,review.'

/** An event of any sandbox or task that the user may see. */
export interface FeedEvent {
  readonly seq: number
  readonly event_type: string
  readonly timestamp: string
  readonly data: EventData
  /** Absent for an event of a task. */
  readonly sandbox_id?: string
}

export interface Follower {
  readonly onEvent: (event: FeedEvent) => void
  /** The feed is open. It has no history: the follower reads the state from the server now, so that it misses nothing. */
  readonly onOpen: () => void
  /** Events are missing. The follower reads the state again, soon: this may happen often. */
  readonly onMissed: () => void
}

/** The live feed of this tab. All pages share one connection, because a browser has few for each server. */
export class Feed {
  readonly #stream: LiveStream
  readonly #followers = new Set<Follower>()
  #isOpen = false
  #isClosed = false

  constructor() {
    this.#stream = new LiveStream({
      url: () => `/api/v1/events?event_types=${TYPES}`,
      fetch: ask,
      onMessage: (message) => {
        if (message.event === 'event') this.#tell(JSON.parse(message.data))
        else if (message.event === 'missed') for (const { onMissed } of this.#followers) onMissed()
      },
      onOpen: () => {
        this.#isOpen = true
        for (const { onOpen } of this.#followers) onOpen()
      },
      onState: (state) => this.#changed(state),
    })
  }

  start(): void {
    this.#changed(CONNECTING)
    this.#stream.start()
  }

  close(): void {
    this.#isClosed = true
    this.#stream.close()
    connections.remove(this)
  }

  /** Returns a function that removes the follower. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    if (this.#isOpen) follower.onOpen()
    return () => this.#followers.delete(follower)
  }

  #tell(event: FeedEvent): void {
    for (const { onEvent } of this.#followers) onEvent(event)
  }

  #changed(state: LiveState): void {
    if (!this.#isClosed) connections.put(this, { state, retryNow: () => this.#stream.retryNow() })
  }
}
