import createClient from 'openapi-fetch'
import { ApiError, problemOf, unreachable } from './problem'
import type { paths } from './schema'

type Listener = () => void

const signedOut = new Set<Listener>()

/** Called when the server rejects the session. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener)
  return () => signedOut.delete(listener)
}

/** Like `fetch`, but throws an `ApiError` for every response that is not a success. */
export async function ask(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await reach(input, init)
  if (response.ok) {
    return response
  }
  const problem = await problemOf(response)
  if (problem.isUnauthorized) {
    for (const listener of signedOut) listener()
  }
  throw problem
}

async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') {
      throw error
    }
    throw unreachable()
  }
}

/** Client of the server's API, typed from its OpenAPI document. Throws an `ApiError` for a refused call. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => ask(request) })

/** A thread and its owner, such as those of a sandbox. Two users may have threads of the same name. */
export interface ThreadKey {
  readonly thread_id: string
  readonly user_id: string
}

/** Parameters of a thread's route. They name the owner, because the reader may have a thread of the same name. */
export const threadOf = <Q extends object = object>({ thread_id, user_id }: ThreadKey, query?: Q) => ({
  path: { thread_id },
  query: { ...(query as Q), owner: user_id },
})

/** Returns the body of a successful response. The generated type does not express that failures are thrown. */
export async function body<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer
  if (data === undefined) {
    throw new ApiError({
      type: 'about:blank',
      title: 'Empty response',
      detail: 'The server sent an empty response.',
      status: 502,
    })
  }
  return data
}
