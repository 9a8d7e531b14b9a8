import { Component, type ComponentType, type FunctionComponent, lazy, type ReactNode, useReducer } from 'react'
import { Button } from './Button'
import { LoadError, loadPart } from './load-part'
import { Empty } from './States'

/** Component that is loaded when it is first shown. After repeated failures, a button is shown in its place. */
export function lazily<N extends string, P extends object>(
  load: () => Promise<Readonly<Record<N, FunctionComponent<P>>>>,
  name: N,
): FunctionComponent<P> {
  const part = () => lazy<ComponentType<P>>(async () => ({ default: (await loadPart(load))[name] }))
  let current = part()
  return function Part(props: P) {
    const [tries, again] = useReducer((before: number) => before + 1, 0)
    const retry = () => {
      // React caches the failure of a lazy component, so another one is created.
      current = part()
      again()
    }
    const Current = current as ComponentType<P>
    return (
      <LoadBoundary key={tries} onRetry={retry}>
        <Current {...props} />
      </LoadBoundary>
    )
  }
}

interface Props {
  readonly onRetry: () => void
  readonly children: ReactNode
}

class LoadBoundary extends Component<Props, { readonly error: unknown }> {
  override state = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    // The surrounding boundary handles other errors.
    if (!isLoadError(error)) throw error
    return (
      <Empty title="This part of the page did not load">
        <p role="alert">The server cannot be reached, or has a newer version of the console.</p>
        <p>
          <Button look="primary" onClick={this.props.onRetry}>
            Retry
          </Button>{' '}
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </p>
      </Empty>
    )
  }
}

function isLoadError(error: unknown): boolean {
  return error instanceof LoadError
}
