import { Component, type ReactNode } from 'react'
import { Failure } from './States'

interface Props {
  /** Key of the content: another value retries. */
  readonly of: string
  readonly children: ReactNode
}

interface State {
  readonly error: unknown
  readonly of: string
}

/** Error boundary: the rest of the page continues. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: undefined, of: this.props.of }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error }
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.of === state.of ? null : { error: undefined, of: props.of }
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    return <Failure error={this.state.error} onRetry={() => this.setState({ error: undefined })} />
  }
}
