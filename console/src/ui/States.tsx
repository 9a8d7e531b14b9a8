import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, sentence } from '~/api/problem'
import { Button } from './Button'
import css from './States.module.css'

const SHOW_AFTER_MS = 150

/** Empty state. */
export function Empty({ title, isPage, children }: { title: string; isPage?: boolean; children?: ReactNode }) {
  return (
    <div className={css.state}>
      <Title isPage={isPage}>{title}</Title>
      {children}
    </div>
  )
}

/** Error state: what failed, and what to do. */
export function Failure({ error, isPage, onRetry }: { error: unknown; isPage?: boolean; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div className={css.state} role="alert">
      <Title isPage={isPage}>{error instanceof ApiError ? error.title : 'An error occurred'}</Title>
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

/** Whether it is the heading of the page. */
function Title({ isPage = false, children }: { isPage?: boolean; children: string }) {
  const Tag = isPage ? 'h1' : 'p'
  return <Tag className={css.title}>{children}</Tag>
}

/** Placeholder during a load. Shown only after a delay. */
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
