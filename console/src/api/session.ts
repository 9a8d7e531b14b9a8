import { queryOptions } from '@tanstack/react-query'
import { ask } from './client'
import { ApiError } from './problem'
import type { components } from './schema'

/** The signed-in user and the server. */
export type Session = components['schemas']['BrowserSession']

const PATH = '/console/session'

/** The session of this browser, or null without one. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    try {
      const answer = await ask(PATH)
      return await answer.json()
    } catch (error) {
      if (error instanceof ApiError && error.isUnauthorized) return null
      throw error
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** Exchanges a key or the code of a sign-in link for an HTTP-only cookie. Stores neither. */
export async function signIn(by: { key: string } | { code: string }): Promise<void> {
  await ask(PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(by),
  })
}

/** The code in the address of a sign-in link, if there is one. Removes it from the address and the history. */
export function takeCode(): string | undefined {
  const code = /^#code=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  return code
}

export async function signOut(): Promise<void> {
  await ask(PATH, { method: 'DELETE' })
}
