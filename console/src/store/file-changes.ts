import { flag, number, text } from '~/api/data'
import type { Entry } from '~/api/files'
import type { LogEvent } from '~/api/types'
import type { Page } from './event-store'
import { type Directories, nameOf, parentOf } from './file-tree'
import { type Flood, floodOf } from './floods'
import { Notifier, type Soon } from './notifier'

/** Events of files in ascending order: the newest page, or the page before a number. */
export interface FileEvents {
  page(before: number | undefined): Promise<Page>
}

interface Version {
  readonly seq: number
  readonly at: string
  readonly isThere: boolean
  readonly sha256: string | undefined
  readonly size: number
}

/** Change of a file between two moments. */
export interface Change {
  readonly path: string
  readonly how: 'added' | 'modified' | 'deleted'
  /** Its last event before the second moment. */
  readonly seq: number
  readonly at: string
}

/** Maximum number of file events that are read. */
const CAP = 20_000

/**
 * File history from the log: every version of every path, so that any two moments can be compared. Reads the log back
 * to its beginning, then follows new events.
 */
export class FileChanges implements Directories {
  readonly notifier: Notifier
  readonly #events: FileEvents
  readonly #versions = new Map<string, Version[]>()
  readonly #folders = new Set<string>()
  #floods: Flood[] = []
  #loading: Promise<void> | undefined
  #problem: unknown
  #isLoaded = false
  #isComplete = true
  #lastSeq = 0

  constructor(events: FileEvents, soon?: Soon) {
    this.#events = events
    this.notifier = new Notifier(soon)
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  get problem(): unknown {
    return this.#problem
  }

  /** Whether the log was read back to its beginning; false if it is too long. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Number of the last processed event. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  load(): Promise<void> {
    this.#loading ??= this.#load().catch((problem: unknown) => {
      this.#problem = problem
      this.#loading = undefined
      this.notifier.changed()
    })
    return this.#loading
  }

  /** Processes the newest events. Skips processed ones. */
  follow(events: readonly LogEvent[]): void {
    if (!this.#isLoaded) return
    let first = events.length
    while (first > 0 && (events[first - 1]?.seq ?? 0) > this.#lastSeq) first--
    const fresh = events.slice(first)
    for (const event of fresh) this.#apply(event)
    this.#lastSeq = Math.max(this.#lastSeq, events.at(-1)?.seq ?? 0)
    if (fresh.some((event) => event.event_type.startsWith('file.'))) this.notifier.changed()
  }

  /** Files that differ between `from` and `to`, by path. */
  between(from: number, to: number): readonly Change[] {
    const changes: Change[] = []
    for (const [path, versions] of this.#versions) {
      const before = versions.findLast((version) => version.seq <= from)
      const after = versions.findLast((version) => version.seq <= to)
      const how = after === undefined || after === before ? undefined : becomes(before, after)
      if (after !== undefined && how !== undefined) changes.push({ path, how, seq: after.seq, at: after.at })
    }
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** Changes between the two moments that the log only counted. */
  floods(from: number, to: number): readonly Flood[] {
    return this.#floods.filter((flood) => flood.seq > from && flood.seq <= to)
  }

  /** Whether the file changed after this event. */
  isOutdated(path: string, seq: number): boolean {
    return (this.#versions.get(path)?.at(-1)?.seq ?? 0) > seq
  }

  /** Last known content of a directory, from the log. */
  async list(path: string): Promise<readonly Entry[]> {
    await this.load()
    if (this.#problem !== undefined && !this.#isLoaded) throw this.#problem
    const entries = new Map<string, Entry>()
    const prefix = path === '' ? '' : `${path}/`
    for (const folder of this.#folders) if (isIn(folder, path)) entries.set(nameOf(folder), folderEntry(folder))
    for (const [file, versions] of this.#versions) {
      const last = versions.at(-1)
      if (!last?.isThere || !file.startsWith(prefix)) continue
      const name = file.slice(prefix.length)
      const slash = name.indexOf('/')
      if (slash < 0) entries.set(name, { name, path: file, type: 'file', size: last.size })
      else entries.set(name.slice(0, slash), folderEntry(prefix + name.slice(0, slash)))
    }
    return [...entries.values()]
  }

  async listAll(): Promise<readonly Entry[]> {
    await this.load()
    return [...this.#versions]
      .filter(([, versions]) => versions.at(-1)?.isThere)
      .map(([path, versions]) => ({ name: nameOf(path), path, type: 'file', size: versions.at(-1)?.size ?? 0 }))
  }

  async #load(): Promise<void> {
    const pages: (readonly LogEvent[])[] = []
    let count = 0
    let page = await this.#events.page(undefined)
    this.#lastSeq = page.headSeq
    while (page.events.length > 0 && count < CAP) {
      pages.unshift(page.events)
      count += page.events.length
      page = await this.#events.page(page.events[0]?.seq)
    }
    this.#isComplete = page.events.length === 0
    for (const event of pages.flat()) this.#apply(event)
    this.#isLoaded = true
    this.#problem = undefined
    this.notifier.changed()
  }

  #apply(event: LogEvent): void {
    const { event_type: type, event_data: data } = event
    if (type === 'file.changes_folded') {
      this.#floods.push(floodOf(event))
      return
    }
    const path = text(data, 'path')
    if (path === undefined || !TOLD.has(type)) return
    const isThere = type !== 'file.deleted'
    if (flag(data, 'directory')) this.#folder(path, isThere, event)
    else this.#add(path, event, isThere)
  }

  /** A deleted directory deletes its content. */
  #folder(path: string, isThere: boolean, event: LogEvent): void {
    if (isThere) {
      this.#folders.add(path)
      return
    }
    const isBelow = (other: string) => other === path || other.startsWith(`${path}/`)
    for (const folder of [...this.#folders]) if (isBelow(folder)) this.#folders.delete(folder)
    for (const [file, versions] of this.#versions) {
      if (isBelow(file) && versions.at(-1)?.isThere) this.#add(file, event, false)
    }
  }

  #add(path: string, event: LogEvent, isThere: boolean): void {
    const sha256 = isThere ? text(event.event_data, 'sha256') : undefined
    const size = number(event.event_data, 'size') ?? 0
    const versions = this.#versions.get(path) ?? []
    versions.push({ seq: event.seq, at: event.created_at, isThere, sha256, size })
    this.#versions.set(path, versions)
  }
}

const TOLD: ReadonlySet<string> = new Set(['file.created', 'file.modified', 'file.deleted'])

function becomes(before: Version | undefined, after: Version): Change['how'] | undefined {
  const wasThere = before?.isThere ?? false
  if (!wasThere) return after.isThere ? 'added' : undefined
  if (!after.isThere) return 'deleted'
  return after.sha256 !== undefined && after.sha256 === before?.sha256 ? undefined : 'modified'
}

function isIn(path: string, folder: string): boolean {
  return path !== '' && parentOf(path) === folder
}

function folderEntry(path: string): Entry {
  return { name: nameOf(path), path, type: 'directory', size: 0 }
}
