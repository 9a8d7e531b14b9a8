import { lazy, Suspense } from 'react'
import css from './Prose.module.css'

const Markdown = lazy(() => import('./Markdown'))

/** Markdown, read by a part that is loaded when it is first needed; until then as it was written. */
export function Prose({ children }: { children: string }) {
  return (
    <Suspense fallback={<div className={css.raw}>{children}</div>}>
      <Markdown>{children}</Markdown>
    </Suspense>
  )
}
