import type { Content } from '~/api/files'
import { ApiError } from '~/api/problem'
import type { Drafts } from './drafts'
import { type Shown, show } from './file-kind'
import type { Mark } from './file-tree'
import { Notifier, type Soon } from './notifier'

/** Where a file is read and written. */
export interface FileStore {
  readonly sandboxId: string
  read(path: string): Promise<Content>
  write(path: string, content: BodyInit, tag?: string): Promise<string>
}

/**
 * A file that somebody looks at. What others do to it is told, never put under the reader's eyes unasked; what the reader
 * typed is never lost: a save that comes too late keeps both.
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
  /** What is there now, if it is another version than the one that is shown. */
  #newer: Content | undefined
  #told = 0
  #isLooking = false
  #isToLookAgain = false

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

  /** Why the last save did not succeed; a conflict is none, it is `newer`. */
  get saveProblem(): unknown {
    return this.#saveProblem
  }

  get isSaving(): boolean {
    return this.#isSaving
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** The version that somebody else wrote. */
  get newer(): Content | undefined {
    return this.#newer
  }

  get newerText(): string {
    const shown = this.#newer && show(this.path, this.#newer)
    return shown?.kind === 'text' ? shown.text : ''
  }

  /** What was typed, if it differs from what is there. */
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

  /** Shows what is there now. What was typed is gone: the caller has asked. */
  async reload(): Promise<void> {
    this.#drafts.drop(this.#files.sandboxId, this.path)
    this.#newer = undefined
    this.#isGone = false
    this.#saveProblem = undefined
    await this.load()
  }

  /** Something was typed. */
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

  /** Saves what was typed, if the file is still the one that it was typed into. */
  async save(): Promise<void> {
    await this.#write(this.#draftTag() ?? this.#content?.tag)
  }

  /** Saves over what somebody else wrote: over the version that was shown, not over one that came after it. */
  async overwrite(): Promise<void> {
    await this.#write(this.#isGone ? undefined : (this.#newer?.tag ?? this.#content?.tag))
  }

  /** The log told of a change of this file. */
  async told(mark: Mark): Promise<void> {
    if (mark.seq <= this.#told || this.#content === undefined) return
    this.#told = mark.seq
    if (mark.sha256 !== undefined && `"${mark.sha256}"` === this.#content.tag && this.#newer === undefined) return
    await this.#look()
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
      if (problem instanceof ApiError && problem.status === 412) await this.#look(true)
      else this.#saveProblem = problem
    }
    this.#isSaving = false
    this.notifier.changed()
    if (this.#isToLookAgain) await this.#look()
  }

  /** What was typed while the save was on its way is the next draft. */
  #settle(content: Content, saved: string): void {
    const typed = this.draft
    this.#take(content)
    this.#newer = undefined
    this.#isGone = false
    const sandboxId = this.#files.sandboxId
    if (typed === saved || typed === undefined) this.#drafts.drop(sandboxId, this.path)
    else this.#drafts.put(sandboxId, this.path, { text: typed, tag: content.tag })
  }

  /** Looks what is there now, and keeps it beside what is shown. */
  async #look(isConflict = false): Promise<void> {
    if (this.#isLooking || (this.#isSaving && !isConflict)) {
      this.#isToLookAgain = true
      return
    }
    this.#isLooking = true
    this.#isToLookAgain = false
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
    this.#isLooking = false
    this.notifier.changed()
    if (this.#isToLookAgain && !this.#isSaving) await this.#look()
  }

  #draftTag(): string | undefined {
    return this.#drafts.get(this.#files.sandboxId, this.path)?.tag
  }

  #take(content: Content): void {
    this.#content = content
    this.#shown = show(this.path, content)
    const draftTag = this.#draftTag()
    // A draft of an older version: both are there, and the reader chooses.
    if (draftTag !== undefined && draftTag !== content.tag) this.#newer = content
  }
}
