import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { sessionQuery, signOut } from '~/api/session'

/** Ends the session of this browser, and forgets what was shown in it. */
export function useSignOut(): () => void {
  const queries = useQueryClient()
  const router = useRouter()
  return () => {
    void signOut()
      .catch(() => undefined)
      .then(() => {
        queries.clear()
        queries.setQueryData(sessionQuery.queryKey, null)
        return router.invalidate()
      })
  }
}
