import { api, ask, body } from './client'
import { ApiError } from './problem'
import type { components } from './schema'

/** Entry of a directory of the workspace. */
export interface Entry {
  readonly name: string
  readonly path: string
  readonly type: 'file' | 'directory' | 'link' | 'fifo' | 'socket' | 'character_device' | 'block_device' | 'other'
  readonly size: number
}

/**
 * Content of a file, as far as it was read. `tag` identifies the version, so that a save names the version it replaces.
 */
export interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly size: number
  readonly tag: string
  readonly modifiedAt: string | undefined
}

/** Maximum size of a file that is read for display. */
export const LARGEST_SHOWN = 2 * 1024 * 1024

/** Maximum size of a file that can be read without resuming the sandbox. */
const LARGEST_VIEW = 1024 * 1024

/** Encodes a path as the end of a URL. Slashes stay slashes. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/**
 * URL of the content of a file. A request resumes a paused sandbox, so never request it while the sandbox is paused.
 */
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

/** Workspace of a live sandbox. Reads neither resume the sandbox nor extend its lease. */
export class RemoteFiles {
  readonly sandboxId: string
  /** Whether a request that resumes a sandbox is allowed: only if the sandbox runs already. */
  isAwake = true

  constructor(sandboxId: string) {
    this.sandboxId = sandboxId
  }

  async list(path: string): Promise<readonly Entry[]> {
    return (await this.#tree(path, false)).files.map(entryOf)
  }

  /** Lists all paths, up to the limit of the server of ten thousand. */
  async listAll(): Promise<readonly Entry[]> {
    return (await this.#tree('', true)).files.map(entryOf)
  }

  /** Reads a file. A known size avoids a request that the server would refuse. */
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

  /** Returns all bytes of a file that is too large for `read`. */
  async readAll(path: string, signal: AbortSignal): Promise<ArrayBuffer> {
    if (!this.isAwake) throw paused()
    return (await ask(bytesAt(this.sandboxId, path), { signal })).arrayBuffer()
  }

  /** Writes the whole file if its version is still `tag`; without a tag, if the file does not exist. */
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

  /** The API creates directories only for files, so an empty one is created by a command. */
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

/** Content of a file at the time of an event, from the log. Works also after the end of the sandbox. */
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
