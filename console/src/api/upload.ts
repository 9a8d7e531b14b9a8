import { bytesAt } from './files'
import { ApiError, unreachable } from './problem'

export interface Sending {
  /** Resolves after the upload. Rejects with the refusal, or with an `AbortError`. */
  readonly done: Promise<void>
  cancel(): void
}

/** Uploads a file to a sandbox. Uses `XMLHttpRequest`, because `fetch` reports no progress of an upload. */
export function send(
  sandboxId: string,
  path: string,
  file: Blob,
  { isToReplace, onProgress }: { isToReplace: boolean; onProgress: (sent: number) => void },
): Sending {
  const request = new XMLHttpRequest()
  const done = new Promise<void>((resolve, reject) => {
    request.upload.onprogress = (event) => onProgress(event.loaded)
    request.onload = () => (request.status < 300 ? resolve() : reject(refusal(request)))
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(new DOMException('It was cancelled.', 'AbortError'))
  })
  request.open('PUT', bytesAt(sandboxId, path))
  request.setRequestHeader('Content-Type', 'application/octet-stream')
  if (!isToReplace) request.setRequestHeader('If-None-Match', '*')
  request.send(file)
  return { done, cancel: () => request.abort() }
}

function refusal(request: XMLHttpRequest): ApiError {
  const fallback = { type: 'about:blank', title: `HTTP ${request.status}`, detail: '', status: request.status }
  try {
    return new ApiError({ ...fallback, ...JSON.parse(request.responseText) })
  } catch {
    return new ApiError(fallback)
  }
}
