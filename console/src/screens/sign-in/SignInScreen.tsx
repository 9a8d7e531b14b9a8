import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { Sprout } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { api, body } from '~/api/client'
import { ApiError, sentence } from '~/api/problem'
import { sessionQuery, signIn, takeCode } from '~/api/session'
import { Button } from '~/ui/Button'
import css from './SignInScreen.module.css'

/** Exchanges the key, or the code of a link, for a cookie. Neither is stored. */
export function SignInScreen() {
  const { next } = useSearch({ from: '/console/sign-in' })
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const enter = useEntrance(next)

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim()
    setBusy(true)
    setProblem('')
    enter({ key })
      .catch((error: unknown) => setProblem(explained(error)))
      .finally(() => setBusy(false))
  }

  // One object for all renders, because a code works once.
  const follow = useRef(() => {
    const code = takeCode()
    if (code === undefined) return
    setBusy(true)
    setProblem('')
    enter({ code })
      .catch((error: unknown) => setProblem(sentence(error)))
      .finally(() => setBusy(false))
  })
  useEffect(() => {
    const { current } = follow
    current()
    // A link opened in this tab changes only the fragment, so the page is not reloaded.
    window.addEventListener('hashchange', current)
    return () => window.removeEventListener('hashchange', current)
  }, [])

  return (
    <main className={css.page}>
      <form className={css.card} onSubmit={submit}>
        <div className={css.brand}>
          <Sprout size={30} aria-hidden />
          <h1>Vivarium</h1>
        </div>
        <label className={css.field}>
          API key
          <input
            name="key"
            type="password"
            autoComplete="current-password"
            required
            // biome-ignore lint/a11y/noAutofocus: it is the only thing to do here
            autoFocus
            aria-invalid={problem !== ''}
            aria-describedby="hint"
          />
        </label>
        <p id="hint" className={css.hint}>
          The admin key is in <code>~/.vivarium/credentials</code> on the server. The browser stores a session of twelve
          hours, not the key.
        </p>
        {problem && (
          <p role="alert" className={css.problem}>
            {problem}
          </p>
        )}
        <Button type="submit" look="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
        <ServerLine />
      </form>
    </main>
  )
}

function useEntrance(next: string | undefined): (by: { key: string } | { code: string }) => Promise<void> {
  const queries = useQueryClient()
  const router = useRouter()
  return async (by) => {
    // A link does not replace a session, because another person could have sent it.
    const isSignedIn = 'code' in by && (await queries.ensureQueryData(sessionQuery)) !== null
    if (!isSignedIn) await signIn(by)
    const session = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
    if (session === null) throw new Error('The browser blocks cookies for this address, so the session cannot start.')
    await router.navigate({ href: isOurs(next) ? next : '/console' })
  }
}

/** Page after the sign-in: only a page of the console, because a link may be crafted. */
function isOurs(next: string | undefined): next is string {
  return next !== undefined && /^\/console(?![^/?#])/.test(next)
}

function explained(error: unknown): string {
  if (error instanceof ApiError && error.isUnauthorized) return 'The key is not valid.'
  return sentence(error)
}

function ServerLine() {
  const { data } = useQuery({ queryKey: ['health'], queryFn: () => body(api.GET('/health')), retry: false })
  return (
    <p className={css.server}>
      {location.host}
      {data && ` · version ${data.version}`}
    </p>
  )
}
