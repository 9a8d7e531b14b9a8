import { type Content, type Entry, RemoteFiles, readAt } from '~/api/files'
import { ApiError } from '~/api/problem'
import { send } from '~/api/upload'
import { drafts } from './drafts'
import { FileChanges } from './file-changes'
import { FileTree } from './file-tree'
import { fileEventsOf } from './history'
import { IgnoreFiles } from './ignore-files'
import { type FileStore, OpenFile } from './open-file'
import { Uploads } from './uploads'
import type { Watch } from './watch'

/** Files of the shown sandbox, for all tabs. */
export class Workspace {
  readonly remote: RemoteFiles
  readonly tree: FileTree
  readonly changes: FileChanges
  readonly uploads: Uploads
  readonly ignoreFiles = new IgnoreFiles()
  readonly hasEnded: boolean
  readonly #watch: Watch
  #open: OpenFile | undefined

  constructor(sandboxId: string, watch: Watch, hasEnded: boolean) {
    this.#watch = watch
    this.hasEnded = hasEnded
    this.remote = new RemoteFiles(sandboxId)
    this.changes = new FileChanges(fileEventsOf(sandboxId))
    this.tree = new FileTree(hasEnded ? this.changes : this.remote, watch.events.lastSeq)
    this.uploads = new Uploads(sandboxId, send)
  }

  /** The file at a path. The same object until another path is opened. */
  file(path: string): OpenFile {
    if (this.#open?.path !== path) {
      this.#open = new OpenFile(path, this.#store(), drafts)
      void this.#open.load()
    }
    return this.#open
  }

  /** All known paths. */
  listAll(): Promise<readonly Entry[]> {
    return this.hasEnded ? this.changes.listAll() : this.remote.listAll()
  }

  /** Processes the events since the last call. */
  follow(): void {
    const { events } = this.#watch.events
    this.tree.follow(events)
    this.changes.follow(events)
    if (this.#open === undefined) return
    const mark = this.tree.mark(this.#open.path)
    if (mark !== undefined) void this.#open.fileChanged(mark)
    if (this.tree.flooded > 0) {
      void this.#open.fileChanged({ how: 'modified', at: 0, seq: this.tree.flooded, sha256: undefined })
    }
  }

  #store(): FileStore {
    const { remote, tree } = this
    const { sandboxId } = remote
    if (!this.hasEnded) {
      const read = (path: string) => remote.read(path, tree.find(path)?.size)
      return { sandboxId, read, write: (path, content, tag) => remote.write(path, content, tag) }
    }
    return {
      sandboxId,
      read: (path: string): Promise<Content> => readAt(sandboxId, path, this.#watch.events.lastSeq),
      write: () => Promise.reject(ended()),
    }
  }
}

const ended = () =>
  new ApiError({
    type: 'urn:vivarium:problem:no-such-sandbox',
    title: 'The sandbox has ended',
    detail: 'The sandbox has ended. Its files are read-only, and only those in the log are available.',
    status: 410,
  })

const workspaces = new WeakMap<Watch, Workspace>()

/** The workspace of a watch. When the sandbox ends, another workspace replaces it. */
export function workspaceOf(sandboxId: string, watch: Watch, hasEnded: boolean): Workspace {
  const known = workspaces.get(watch)
  if (known !== undefined && known.hasEnded === hasEnded) return known
  const made = new Workspace(sandboxId, watch, hasEnded)
  workspaces.set(watch, made)
  return made
}
