import { ApiError, sentence } from '~/api/problem'
import type { Sending, send } from '~/api/upload'
import { Notifier, type Soon } from './notifier'

const AT_ONCE = 2
const IS_THERE_ALREADY = 412

export type UploadState = 'waiting' | 'sending' | 'done' | 'exists' | 'failed' | 'cancelled'

/** Upload of a file. Replaced, never mutated. */
export interface Upload {
  readonly id: number
  readonly path: string
  readonly size: number
  readonly sent: number
  readonly state: UploadState
  readonly problem: string
}

/** Uploads, two at a time. Existing files are replaced only on request. */
export class Uploads {
  readonly notifier: Notifier
  readonly #send: typeof send
  readonly #sandboxId: string
  readonly #files = new Map<number, Blob>()
  readonly #sendings = new Map<number, Sending>()
  #all: readonly Upload[] = []
  #lastId = 0

  constructor(sandboxId: string, sending: typeof send, soon?: Soon) {
    this.#sandboxId = sandboxId
    this.#send = sending
    this.notifier = new Notifier(soon)
  }

  get all(): readonly Upload[] {
    return this.#all
  }

  add(path: string, file: Blob): void {
    const id = ++this.#lastId
    this.#files.set(id, file)
    this.#all = [...this.#all, { id, path, size: file.size, sent: 0, state: 'waiting', problem: '' }]
    this.#next()
  }

  cancel(id: number): void {
    this.#sendings.get(id)?.cancel()
    if (this.#find(id)?.state === 'waiting') this.#become(id, { state: 'cancelled' })
  }

  /** Retries and replaces the existing file. */
  replace(id: number): void {
    this.#start(id, true)
  }

  retry(id: number): void {
    this.#start(id, false)
  }

  /** Removes finished uploads. */
  clear(): void {
    const isOver = (upload: Upload) => upload.state !== 'waiting' && upload.state !== 'sending'
    for (const upload of this.#all.filter(isOver)) this.#files.delete(upload.id)
    this.#all = this.#all.filter((upload) => !isOver(upload))
    this.notifier.changed()
  }

  #next(): void {
    const waiting = this.#all.find((upload) => upload.state === 'waiting')
    if (waiting !== undefined && this.#sendings.size < AT_ONCE) {
      this.#start(waiting.id, false)
      this.#next()
    }
    this.notifier.changed()
  }

  #start(id: number, isToReplace: boolean): void {
    const upload = this.#find(id)
    const file = this.#files.get(id)
    if (upload === undefined || file === undefined || this.#sendings.has(id)) return
    this.#become(id, { state: 'sending', sent: 0, problem: '' })
    const onProgress = (sent: number) => this.#become(id, { sent: Math.min(sent, upload.size) })
    const sending = this.#send(this.#sandboxId, upload.path, file, { isToReplace, onProgress })
    this.#sendings.set(id, sending)
    void sending.done
      .then(
        () => this.#become(id, { state: 'done', sent: upload.size }),
        (error: unknown) => this.#become(id, outcomeOf(error)),
      )
      .finally(() => {
        this.#sendings.delete(id)
        this.#next()
      })
  }

  #find(id: number): Upload | undefined {
    return this.#all.find((upload) => upload.id === id)
  }

  #become(id: number, change: Partial<Upload>): void {
    this.#all = this.#all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload))
    this.notifier.changed()
  }
}

function outcomeOf(error: unknown): Partial<Upload> {
  if (error instanceof DOMException && error.name === 'AbortError') return { state: 'cancelled' }
  if (error instanceof ApiError && error.status === IS_THERE_ALREADY) return { state: 'exists' }
  return { state: 'failed', problem: sentence(error) }
}
