import { text } from '~/api/data'
import type { LogEvent } from '~/api/types'

const NAME = '.gitignore'

/** The `.gitignore` files in the log. Processes each event once. */
export class IgnoreFiles {
  #lastSeq = 0
  #hasFiles = false
  /** Last event of each existing file, by path. */
  #found: ReadonlyMap<string, number> = new Map()

  /** Whether the log contains such a file. Otherwise nothing is hidden. */
  get hasFiles(): boolean {
    return this.#hasFiles
  }

  /** The same map until something changes. */
  follow(events: readonly LogEvent[]): ReadonlyMap<string, number> {
    let first = events.length
    while (first > 0 && (events[first - 1]?.seq ?? 0) > this.#lastSeq) first--
    for (const event of events.slice(first)) this.#take(event)
    this.#lastSeq = Math.max(this.#lastSeq, events.at(-1)?.seq ?? 0)
    return this.#found
  }

  #take({ seq, event_type: type, event_data: data }: LogEvent): void {
    if (!type.startsWith('file.')) return
    this.#hasFiles = true
    const path = text(data, 'path')
    if (path === undefined || (path !== NAME && !path.endsWith(`/${NAME}`))) return
    const found = new Map(this.#found)
    if (type === 'file.deleted') found.delete(path)
    else found.set(path, seq)
    this.#found = found
  }
}

/** The directory of a `.gitignore` file; the root is the empty string. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.length - NAME.length - 1))
}
