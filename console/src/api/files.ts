import { api, ask, body } from './client'
import { ApiError } from './problem'
import type { components } from './schema'

/** Something in a directory of the workspace. */
export interface Entry {
  readonly name: string
  readonly path: string
  readonly type: 'file' | 'directory' | 'link' | 'fifo' | 'socket' | 'character_device' | 'block_device' | 'other'
  readonly size: number
}

/** What a file holds, as far as it was read. `tag` names exactly this version: a save says which one it replaces. */
export interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly size: number
  readonly tag: string
  readonly modifiedAt: string | undefined
}

/** The most of a file that is read to be shown. */
export const LARGEST_SHOWN = 2 * 1024 * 1024

/** The most that is told without waking anybody. */
const LARGEST_VIEW = 1024 * 1024

/** A path as the rest of an address: slashes stay slashes. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** Where the bytes of a file are. Asking there resumes a paused sandbox: never ask for one that sleeps. */
export function bytesAt(sandboxId: string, path: string): string {
  return `/sandboxes/${encodeURIComponent(sandboxId)}/files/${encodePath(path)}`
}

const paused = () =>
  new ApiError({
    type: 'urn:vivarium:problem:sandbox-not-running',
    title: 'The sandbox is paused',
    detail: 'The sandbox is paused. Resume it to read this file.',
    status: 409,
  })

/** The workspace of a sandbox that lives. Looking neither wakes it nor counts as a use of it. */
export class RemoteFiles {
  readonly sandboxId: string
  /** Whether what wakes a sandbox may be asked: it is awake anyway. */
  isAwake = true

  constructor(sandboxId: string) {
    this.sandboxId = sandboxId
  }

  async list(path: string): Promise<readonly Entry[]> {
    return (await this.#tree(path, false)).files.map(entryOf)
  }

  /** Everything there is, as far as the server tells: ten thousand names. */
  async listAll(): Promise<readonly Entry[]> {
    return (await this.#tree('', true)).files.map(entryOf)
  }

  /** Reads a file; a size that is known spares the question that would be refused. */
  async read(path: string, size = 0): Promise<Content> {
    if (size > LARGEST_VIEW) return this.#readHead(path)
    try {
      const answer = await ask(`/api/v1/sandboxes/${encodeURIComponent(this.sandboxId)}/files/${encodePath(path)}`)
      return contentOf(await answer.json())
    } catch (error) {
      if (error instanceof ApiError && error.status === 413) return this.#readHead(path)
      throw error
    }
  }

  /** All the bytes of a file that is too large for `read`. */
  async readAll(path: string, signal: AbortSignal): Promise<ArrayBuffer> {
    if (!this.isAwake) throw paused()
    return (await ask(bytesAt(this.sandboxId, path), { signal })).arrayBuffer()
  }

  /** Writes the whole file, if it still is what the caller saw; without a tag, if nothing is there. */
  async write(path: string, content: BodyInit, tag?: string): Promise<string> {
    const headers = new Headers({ 'Content-Type': 'application/octet-stream' })
    if (tag === undefined) headers.set('If-None-Match', '*')
    else headers.set('If-Match', tag)
    const answer = await this.#change(path, { method: 'PUT', headers, body: content })
    return answer.headers.get('ETag') ?? ''
  }

  async remove(path: string): Promise<void> {
    await this.#change(path, { method: 'DELETE' }, '?recursive=true')
  }

  async move(path: string, to: string): Promise<void> {
    await this.#change(path, { method: 'POST' }, `?move_to=${encodeURIComponent(to)}`)
  }

  /** The API makes directories for files alone, so that an empty one is made by a command. */
  async makeDirectory(path: string): Promise<void> {
    const params = { path: { sandbox_id: this.sandboxId } }
    const command = ['mkdir', '-p', '--', path]
    const answer = await body(
      api.POST('/sandboxes/{sandbox_id}/exec', {
        params,
        body: { command, timeout: 30, detach: false, stream_stdin: false },
      }),
    )
    if (typeof answer === 'object' && 'exit_code' in answer && answer.exit_code !== 0) {
      const said = 'stderr' in answer && typeof answer.stderr === 'string' ? answer.stderr : ''
      throw new Error(said.trim() || 'The directory could not be created.')
    }
  }

  async #change(path: string, init: RequestInit, query = ''): Promise<Response> {
    if (!this.isAwake) throw paused()
    return ask(bytesAt(this.sandboxId, path) + query, init)
  }

  #tree(path: string, recursive: boolean) {
    const params = { path: { sandbox_id: this.sandboxId }, query: { path, recursive } }
    return body(api.GET('/api/v1/sandboxes/{sandbox_id}/files', { params }))
  }

  async #readHead(path: string): Promise<Content> {
    if (!this.isAwake) throw paused()
    const headers = { Range: `bytes=0-${LARGEST_SHOWN - 1}` }
    const answer = await ask(bytesAt(this.sandboxId, path), { headers })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const total = Number(answer.headers.get('Content-Range')?.split('/')[1] ?? bytes.length)
    return { bytes, size: total, tag: answer.headers.get('ETag') ?? '', modifiedAt: undefined }
  }
}

/** What a file held when an event was the newest, out of the log; also after the end of the sandbox. */
export async function readAt(sandboxId: string, path: string, seq: number): Promise<Content> {
  const address = `/api/v1/sandboxes/${encodeURIComponent(sandboxId)}/files/${encodePath(path)}?at_seq=${seq}`
  return contentOf(await (await ask(address)).json())
}

function entryOf({ name, path, type, size_bytes: size }: components['schemas']['FileTree']['files'][number]): Entry {
  return { name, path, type, size }
}

function contentOf(view: components['schemas']['FileView']): Content {
  const bytes =
    view.encoding === 'base64'
      ? Uint8Array.from(atob(view.content), (character) => character.charCodeAt(0))
      : new TextEncoder().encode(view.content)
  return { bytes, size: view.size_bytes, tag: `"${view.sha256}"`, modifiedAt: view.modified_at }
}
