import type { LogEvent } from '~/api/types'
import { isFailed } from './log-events'
import { Matches } from './matches'

export interface RawChoice {
  /** Empty selects all. */
  readonly types: readonly string[]
  readonly onlyFailed: boolean
  /** Search text. Other rows stay visible. */
  readonly word: string
}

/** Filter of the events of a log, matches of the search, and counts by type. */
export class RawFilter {
  readonly failed = new Matches<LogEvent>({ test: isFailed })
  readonly #choice: RawChoice
  readonly #shown: Matches<LogEvent>
  readonly #found: Matches<LogEvent>
  #events: readonly LogEvent[] = []
  #counted = 0
  #types = new Map<string, number>()

  constructor(choice: RawChoice) {
    this.#choice = choice
    const types = new Set(choice.types)
    const isShown = (event: LogEvent) =>
      (types.size === 0 || types.has(event.event_type)) && (!choice.onlyFailed || isFailed(event))
    this.#shown = new Matches({ test: isShown })
    const hasWord = remembered(wordTest(choice.word))
    this.#found = new Matches({ test: (event) => isShown(event) && hasWord(event) })
  }

  get isNarrow(): boolean {
    return this.#choice.types.length > 0 || this.#choice.onlyFailed
  }

  /** The shown events; undefined for all. */
  get shown(): readonly number[] | undefined {
    return this.isNarrow ? this.#shown.found : undefined
  }

  /** Matches; undefined without a search. */
  get found(): Matches<LogEvent> | undefined {
    return this.#choice.word === '' ? undefined : this.#found
  }

  /** Number of events of each type, in the order of their first event. */
  get types(): ReadonlyMap<string, number> {
    return this.#types
  }

  update(events: readonly LogEvent[]): this {
    if (events !== this.#events || events.length < this.#counted) {
      this.#events = events
      this.#counted = 0
      this.#types = new Map()
    }
    for (; this.#counted < events.length; this.#counted++) {
      const type = (events[this.#counted] as LogEvent).event_type
      this.#types.set(type, (this.#types.get(type) ?? 0) + 1)
    }
    this.failed.update(events)
    if (this.isNarrow) this.#shown.update(events)
    if (this.#choice.word !== '') this.#found.update(events)
    return this
  }
}

function wordTest(word: string): (event: LogEvent) => boolean {
  const wanted = word.toLowerCase()
  return (event) =>
    event.event_type.toLowerCase().includes(wanted) ||
    event.source.toLowerCase().includes(wanted) ||
    JSON.stringify(event.event_data).toLowerCase().includes(wanted)
}

/** Older pages rebuild the list; the texts of events are cached. */
function remembered(test: (event: LogEvent) => boolean): (event: LogEvent) => boolean {
  const known = new WeakMap<LogEvent, boolean>()
  return (event) => {
    const before = known.get(event)
    if (before !== undefined) return before
    const isMatch = test(event)
    known.set(event, isMatch)
    return isMatch
  }
}
