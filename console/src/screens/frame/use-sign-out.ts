import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { sessionQuery, signOut } from '~/api/session'
import { drafts } from '~/store/drafts'
import { unsent } from '~/store/words'
import { forget } from '../spawn/draft'

/** Ends the session of this browser, and deletes its data and drafts. */
export function useSignOut(): () => void {
  const queries = useQueryClient()
  const router = useRouter()
  return () => {
    void signOut()
      .catch(() => undefined)
      .then(() => {
        queries.clear()
        drafts.clear()
        unsent.clear()
        forget()
        queries.setQueryData(sessionQuery.queryKey, null)
        return router.invalidate()
      })
  }
}
