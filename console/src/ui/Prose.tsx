import { Component, lazy, type ReactNode, Suspense } from 'react'
import { loadPart } from './load-part'
import css from './Prose.module.css'

const Markdown = lazy(() => loadPart(() => import('./Markdown')))

/** Markdown, with a renderer that is loaded on first use; without it, plain text. */
export function Prose({ children }: { children: string }) {
  const raw = <div className={css.raw}>{children}</div>
  return (
    <RawBoundary raw={raw}>
      <Suspense fallback={raw}>
        <Markdown>{children}</Markdown>
      </Suspense>
    </RawBoundary>
  )
}

class RawBoundary extends Component<{ raw: ReactNode; children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.raw : this.props.children
  }
}
