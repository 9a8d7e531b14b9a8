import { flag, number, text } from '~/api/data'
import type { Entry } from '~/api/files'
import type { LogEvent } from '~/api/types'
import { Notifier, type Soon } from './notifier'

/** Source of directories. */
export interface Directories {
  list(path: string): Promise<readonly Entry[]>
}

export type How = 'created' | 'modified' | 'deleted'

/** Last event of a path since the tree was opened. */
export interface Mark {
  readonly how: How
  readonly at: number
  readonly seq: number
  readonly sha256: string | undefined
}

/** Row of the tree. */
export interface TreeRow {
  readonly entry: Entry
  /** Level from one, as in ARIA. */
  readonly level: number
  readonly position: number
  readonly siblings: number
  /** Undefined for an entry without children. */
  readonly isExpanded: boolean | undefined
  readonly isLoading: boolean
  readonly problem: unknown
}

interface Folder {
  readonly entries: Map<string, Entry>
  isLoaded: boolean
  isLoading: boolean
  /** The directory changed while it was read, so the listing may be outdated. */
  isStale: boolean
  problem: unknown
}

const MOST_MARKS = 5_000
const REREAD_MS = 400
/** Events after which the directories are read again. */
const REREAD = new Set(['file.changes_folded', 'sandbox.resumed', 'sandbox.woken', 'sandbox.recovered'])
const ORDER = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/**
 * Files of a sandbox by directory: a directory is read when it is opened, and events update it. Listeners get one
 * notification per frame.
 */
export class FileTree {
  readonly notifier: Notifier
  readonly #directories: Directories
  readonly #folders = new Map<string, Folder>()
  readonly #expanded = new Set<string>([''])
  readonly #marks = new Map<string, Mark>()
  #seen: number
  #flooded = 0
  #rows: readonly TreeRow[] | undefined
  #rowsFilter = ''
  #reread: ReturnType<typeof setTimeout> | undefined

  /** `seen` is the number of the last event that the directories include. */
  constructor(directories: Directories, seen: number, soon?: Soon) {
    this.#directories = directories
    this.#seen = seen
    this.notifier = new Notifier(soon)
  }

  get isLoaded(): boolean {
    return this.#folders.get('')?.isLoaded ?? false
  }

  /** Why the workspace cannot be shown. */
  get problem(): unknown {
    return this.#folders.get('')?.problem
  }

  get isEmpty(): boolean {
    return this.isLoaded && this.#folders.get('')?.entries.size === 0
  }

  mark(path: string): Mark | undefined {
    return this.#marks.get(path)
  }

  /** Number of the last event that only counted changes, so any file may have changed. */
  get flooded(): number {
    return this.#flooded
  }

  find(path: string): Entry | undefined {
    return this.#folders.get(parentOf(path))?.entries.get(nameOf(path))
  }

  /** Opens a directory, and reads it the first time. */
  async expand(path: string): Promise<void> {
    this.#expanded.add(path)
    this.#changed()
    const folder = this.#folders.get(path)
    if (folder === undefined || folder.problem !== undefined) await this.#read(path)
  }

  collapse(path: string): void {
    if (path !== '') this.#expanded.delete(path)
    this.#changed()
  }

  /** Opens the parents of a path, so that it is visible. */
  async reveal(path: string): Promise<void> {
    for (const above of ancestorsOf(path)) await this.expand(above)
  }

  /** Reads all loaded directories again. */
  async refresh(): Promise<void> {
    await Promise.all([...this.#folders.keys()].map((path) => this.#read(path)))
  }

  /** Processes the newest events. Skips processed ones. */
  follow(events: readonly LogEvent[]): void {
    let first = events.length
    while (first > 0 && (events[first - 1]?.seq ?? 0) > this.#seen) first--
    for (const event of events.slice(first)) this.#apply(event)
    this.#seen = Math.max(this.#seen, events.at(-1)?.seq ?? 0)
  }

  /** The visible rows. With a filter: the loaded entries whose names match, and their parents. */
  rows(filter = ''): readonly TreeRow[] {
    if (this.#rows === undefined || this.#rowsFilter !== filter) {
      const rows: TreeRow[] = []
      this.#collect('', 1, filter.toLowerCase(), rows)
      this.#rows = rows
      this.#rowsFilter = filter
    }
    return this.#rows
  }

  #collect(path: string, level: number, filter: string, into: TreeRow[]): boolean {
    const entries = [...(this.#folders.get(path)?.entries.values() ?? [])]
      .filter((entry) => filter === '' || this.#has(entry, filter))
      .sort(byKindAndName)
    entries.forEach((entry, index) => {
      const isFolder = entry.type === 'directory'
      const isExpanded = this.#expanded.has(entry.path) || (filter !== '' && this.#hasBelow(entry, filter))
      const folder = this.#folders.get(entry.path)
      into.push({
        entry,
        level,
        position: index + 1,
        siblings: entries.length,
        isExpanded: isFolder ? isExpanded : undefined,
        isLoading: folder?.isLoading === true && !folder.isLoaded,
        problem: folder?.problem,
      })
      if (isFolder && isExpanded) this.#collect(entry.path, level + 1, filter, into)
    })
    return entries.length > 0
  }

  #has(entry: Entry, filter: string): boolean {
    return entry.name.toLowerCase().includes(filter) || this.#hasBelow(entry, filter)
  }

  #hasBelow(entry: Entry, filter: string): boolean {
    const folder = entry.type === 'directory' ? this.#folders.get(entry.path) : undefined
    return folder !== undefined && [...folder.entries.values()].some((below) => this.#has(below, filter))
  }

  async #read(path: string): Promise<void> {
    const folder = this.#folder(path)
    if (folder.isLoading) {
      folder.isStale = true
      return
    }
    folder.isLoading = true
    this.#changed()
    try {
      do {
        folder.isStale = false
        const entries = await this.#directories.list(path)
        folder.entries.clear()
        for (const entry of entries) folder.entries.set(entry.name, entry)
        folder.isLoaded = true
        folder.problem = undefined
      } while (folder.isStale)
    } catch (problem) {
      folder.problem = problem
    } finally {
      folder.isLoading = false
      this.#changed()
    }
  }

  #folder(path: string): Folder {
    const known = this.#folders.get(path)
    if (known !== undefined) return known
    const folder: Folder = { entries: new Map(), isLoaded: false, isLoading: false, isStale: false, problem: undefined }
    this.#folders.set(path, folder)
    return folder
  }

  #apply(event: LogEvent): void {
    const type = event.event_type
    if (REREAD.has(type)) {
      this.#flooded = event.seq
      this.#rereadSoon()
      return
    }
    const path = text(event.event_data, 'path')
    const how = HOW[type]
    if (how === undefined || path === undefined) return
    this.#note(path, {
      how,
      at: Date.parse(event.created_at),
      seq: event.seq,
      sha256: text(event.event_data, 'sha256'),
    })
    if (how === 'deleted') this.#drop(path)
    else this.#put(entryOf(path, event))
    this.#changed()
  }

  #put(entry: Entry): void {
    const folder = this.#folders.get(parentOf(entry.path))
    if (folder !== undefined) {
      folder.entries.set(entry.name, entry)
      if (folder.isLoading) folder.isStale = true
      return
    }
    // Its directory is not loaded, so only its existence is known.
    const above = ancestorsOf(entry.path).findLast((path) => this.#folders.has(parentOf(path)) && path !== '')
    if (above === undefined) return
    const siblings = this.#folders.get(parentOf(above))
    if (siblings !== undefined && !siblings.entries.has(nameOf(above))) {
      siblings.entries.set(nameOf(above), { name: nameOf(above), path: above, type: 'directory', size: 0 })
    }
  }

  #drop(path: string): void {
    const folder = this.#folders.get(parentOf(path))
    folder?.entries.delete(nameOf(path))
    if (folder?.isLoading) folder.isStale = true
    for (const known of [...this.#folders.keys()]) {
      if (known === path || known.startsWith(`${path}/`)) {
        this.#folders.delete(known)
        this.#expanded.delete(known)
      }
    }
  }

  #note(path: string, mark: Mark): void {
    this.#marks.delete(path)
    this.#marks.set(path, mark)
    const oldest = this.#marks.keys().next()
    if (this.#marks.size > MOST_MARKS && !oldest.done) this.#marks.delete(oldest.value)
  }

  #rereadSoon(): void {
    this.#reread ??= setTimeout(() => {
      this.#reread = undefined
      void this.refresh()
    }, REREAD_MS)
  }

  #changed(): void {
    this.#rows = undefined
    this.notifier.changed()
  }
}

const HOW: Readonly<Record<string, How>> = {
  'file.created': 'created',
  'file.modified': 'modified',
  'file.deleted': 'deleted',
}

function entryOf(path: string, { event_data: data }: LogEvent): Entry {
  const named = text(data, 'type') as Entry['type'] | undefined
  const type = flag(data, 'directory') ? 'directory' : (named ?? 'file')
  return { name: nameOf(path), path, type, size: number(data, 'size') ?? 0 }
}

function byKindAndName(a: Entry, b: Entry): number {
  const isFolderA = a.type === 'directory'
  if (isFolderA !== (b.type === 'directory')) return isFolderA ? -1 : 1
  return ORDER.compare(a.name, b.name)
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The parents of a path, from the root. */
export function ancestorsOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index).join('/'))
}
