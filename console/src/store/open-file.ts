import type { Content } from '~/api/files'
import { ApiError } from '~/api/problem'
import type { Drafts } from './drafts'
import { type Shown, show } from './file-kind'
import type { Mark } from './file-tree'
import { Notifier, type Soon } from './notifier'

/** Source of a file. */
export interface FileStore {
  readonly sandboxId: string
  read(path: string): Promise<Content>
  write(path: string, content: BodyInit, tag?: string): Promise<string>
}

/**
 * Open file. Changes of other writers are reported and shown only on request. Typed text is never lost: a save that
 * conflicts keeps both versions.
 */
export class OpenFile {
  readonly path: string
  readonly notifier: Notifier
  readonly #files: FileStore
  readonly #drafts: Drafts
  #content: Content | undefined
  #shown: Shown | undefined
  #problem: unknown
  #saveProblem: unknown
  #isSaving = false
  #isGone = false
  /** The current version on the server, if it differs from the shown one. */
  #newer: Content | undefined
  #lastEvent = 0
  #isReading = false
  #mustReadAgain = false

  constructor(path: string, files: FileStore, drafts: Drafts, soon?: Soon) {
    this.path = path
    this.#files = files
    this.#drafts = drafts
    this.notifier = new Notifier(soon)
  }

  get content(): Content | undefined {
    return this.#content
  }

  get shown(): Shown | undefined {
    return this.#shown
  }

  get problem(): unknown {
    return this.#problem
  }

  /** Why the last save failed. A conflict is not a failure; it sets `newer`. */
  get saveProblem(): unknown {
    return this.#saveProblem
  }

  get isSaving(): boolean {
    return this.#isSaving
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Version of another writer. */
  get newer(): Content | undefined {
    return this.#newer
  }

  get newerText(): string {
    const shown = this.#newer && show(this.path, this.#newer)
    return shown?.kind === 'text' ? shown.text : ''
  }

  /** The draft, if it differs from the saved content. */
  get draft(): string | undefined {
    return this.#drafts.get(this.#files.sandboxId, this.path)?.text
  }

  get text(): string {
    return this.draft ?? (this.#shown?.kind === 'text' ? this.#shown.text : '')
  }

  get isEditable(): boolean {
    return this.#shown?.kind === 'text' && this.#shown.isWhole
  }

  async load(): Promise<void> {
    try {
      this.#take(await this.#files.read(this.path))
      this.#problem = undefined
    } catch (problem) {
      this.#problem = problem
    }
    this.notifier.changed()
  }

  /** Shows the current version and discards the draft; the user has confirmed. */
  async reload(): Promise<void> {
    this.#drafts.drop(this.#files.sandboxId, this.path)
    this.#newer = undefined
    this.#isGone = false
    this.#saveProblem = undefined
    await this.load()
  }

  /** Sets the draft. */
  edit(text: string): void {
    if (this.#content === undefined) return
    const sandboxId = this.#files.sandboxId
    if (this.#shown?.kind === 'text' && this.#shown.text === text) this.#drafts.drop(sandboxId, this.path)
    else this.#drafts.put(sandboxId, this.path, { text, tag: this.#draftTag() ?? this.#content.tag })
    this.notifier.changed()
  }

  discard(): void {
    this.#drafts.drop(this.#files.sandboxId, this.path)
    this.#saveProblem = undefined
    this.notifier.changed()
  }

  /** Saves the draft, if the file still has the version on which it is based. */
  async save(): Promise<void> {
    await this.#write(this.#draftTag() ?? this.#content?.tag)
  }

  /** Overwrites the version of another writer that was shown, but not a later one. */
  async overwrite(): Promise<void> {
    await this.#write(this.#isGone ? undefined : (this.#newer?.tag ?? this.#content?.tag))
  }

  /** Called after an event of this file in the log. */
  async fileChanged(mark: Mark): Promise<void> {
    if (mark.seq <= this.#lastEvent || this.#content === undefined) return
    this.#lastEvent = mark.seq
    if (mark.sha256 !== undefined && `"${mark.sha256}"` === this.#content.tag && this.#newer === undefined) return
    await this.#readCurrent()
  }

  async #write(tag: string | undefined): Promise<void> {
    const draft = this.draft
    if (draft === undefined || this.#isSaving) return
    this.#isSaving = true
    this.#saveProblem = undefined
    this.notifier.changed()
    const bytes = new TextEncoder().encode(draft)
    try {
      const saved = await this.#files.write(this.path, bytes, tag)
      this.#settle({ bytes, size: bytes.length, tag: saved, modifiedAt: undefined }, draft)
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 412) await this.#readCurrent(true)
      else this.#saveProblem = problem
    }
    this.#isSaving = false
    this.notifier.changed()
    if (this.#mustReadAgain) await this.#readCurrent()
  }

  /** Text typed during the save is the next draft. */
  #settle(content: Content, saved: string): void {
    const typed = this.draft
    this.#take(content)
    this.#newer = undefined
    this.#isGone = false
    const sandboxId = this.#files.sandboxId
    if (typed === saved || typed === undefined) this.#drafts.drop(sandboxId, this.path)
    else this.#drafts.put(sandboxId, this.path, { text: typed, tag: content.tag })
  }

  /** Reads the current version, and keeps it beside the shown one. */
  async #readCurrent(isConflict = false): Promise<void> {
    if (this.#isReading || (this.#isSaving && !isConflict)) {
      this.#mustReadAgain = true
      return
    }
    this.#isReading = true
    this.#mustReadAgain = false
    try {
      const now = await this.#files.read(this.path)
      this.#isGone = false
      const isOurs = now.tag === this.#content?.tag && (this.#draftTag() ?? now.tag) === now.tag
      this.#newer = isOurs ? undefined : now
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 404) {
        this.#isGone = true
        this.#newer = undefined
      } else if (isConflict) this.#saveProblem = problem
    }
    this.#isReading = false
    this.notifier.changed()
    if (this.#mustReadAgain && !this.#isSaving) await this.#readCurrent()
  }

  #draftTag(): string | undefined {
    return this.#drafts.get(this.#files.sandboxId, this.path)?.tag
  }

  #take(content: Content): void {
    this.#content = content
    this.#shown = show(this.path, content)
    const draftTag = this.#draftTag()
    // Draft of an older version: both are kept, and the user chooses.
    if (draftTag !== undefined && draftTag !== content.tag) this.#newer = content
  }
}
