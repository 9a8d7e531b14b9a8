import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, sentence } from '~/api/problem'
import { Button } from './Button'
import css from './States.module.css'

const SHOW_AFTER_MS = 150

/** Nothing is there, and that is all right. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css.state}>
      <p className={css.title}>{title}</p>
      {children}
    </div>
  )
}

/** Something could not be shown: what, and what can be done. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div className={css.state} role="alert">
      <p className={css.title}>{error instanceof ApiError ? error.title : 'Something went wrong'}</p>
      <p className={css.detail}>{sentence(error)}</p>
      {requestId && (
        <p className={css.detail}>
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** The shape of what is coming. Shown only when it takes long enough to be noticed. */
export function Skeleton({ rows, label }: { rows: number; label: string }) {
  const isShown = useAfter(SHOW_AFTER_MS)
  if (!isShown) return null
  return (
    <div className={css.skeleton} role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={css.bone} />
      ))}
    </div>
  )
}

function useAfter(ms: number): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return isOver
}
