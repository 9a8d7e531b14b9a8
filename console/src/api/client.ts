import createClient from 'openapi-fetch'
import { ApiError, problemOf, unreachable } from './problem'
import type { paths } from './schema'

type Listener = () => void

const signedOut = new Set<Listener>()

/** Tells when the server no longer knows the session. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener)
  return () => signedOut.delete(listener)
}

/** Like `fetch`, but whatever is not an answer to the question is thrown as an `ApiError`. */
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

/** The server's API, typed by its own description. What it refuses is thrown as an `ApiError`. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => ask(request) })

/** A thread and its owner, such as those of a sandbox. Two users may have threads of the same name. */
export interface ThreadKey {
  readonly thread_id: string
  readonly user_id: string
}

/** The parameters of a route of a thread. They name the owner, because the reader may have a thread of that name, too. */
export const threadOf = <Q extends object = object>({ thread_id, user_id }: ThreadKey, query?: Q) => ({
  path: { thread_id },
  query: { ...(query as Q), owner: user_id },
})

/** The body of an answer that was good: the client's type does not know that anything else was thrown. */
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
