import { queryOptions } from '@tanstack/react-query'
import { ask } from './client'
import { ApiError } from './problem'
import type { components } from './schema'

/** Who is signed in, and at what server. */
export type Session = components['schemas']['BrowserSession']

const PATH = '/console/session'

/** The session of this browser, or null if there is none. */
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

/** Exchanges a key for a cookie that no script can read. The key is not kept. */
export async function signIn(key: string): Promise<void> {
  await ask(PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ key }),
  })
}

export async function signOut(): Promise<void> {
  await ask(PATH, { method: 'DELETE' })
}
