import { Eye, Pause, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import type { LinkState } from '~/live/shell-link'
import type { ShellSession } from '~/store/shell-session'
import { Button } from '~/ui/Button'
import { clock, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import css from './Banners.module.css'

interface Props {
  readonly session: ShellSession
  readonly isPaused: boolean
  /** Number of keys typed while nothing is sent. */
  readonly nudges: number
  readonly onType: () => void
  readonly onResume: () => void
  readonly onAnother: () => void
  readonly onDismiss: () => void
}

/** Reasons why the shell accepts no input, and the actions against them. */
export function Banners(props: Props) {
  const { session, isPaused, nudges } = props
  const isWatching = session.state.kind === 'live' && session.role === 'watcher'
  return (
    <>
      <Connection {...props} />
      {isPaused && (session.state.kind === 'live' || session.state.kind === 'idle') && (
        <Banner tone="warn" icon={<Pause size={15} aria-hidden />} nudges={nudges}>
          <span>The sandbox is paused. The page does not send your input.</span>
          <Button className={css.plain} onClick={props.onResume}>
            {session.state.kind === 'live' ? 'Resume' : 'Resume and open'}
          </Button>
        </Banner>
      )}
      {isWatching && (
        <Banner tone="info" icon={<Eye size={15} aria-hidden />} nudges={nudges}>
          <span>
            <strong>Watching only.</strong> The page does not send your input.
          </span>
          {session.wantsToWatch ? (
            <Button className={css.plain} title="The terminal takes the size of your window" onClick={props.onType}>
              Type here
            </Button>
          ) : (
            <span>You have read access to this terminal.</span>
          )}
        </Banner>
      )}
      <p role="status" className="visually-hidden">
        {nudges > 0 && session.deaf !== undefined && `Not sent: ${REASONS[session.deaf]}`}
      </p>
      {session.notice && (
        <p key={session.notice.number} role="alert" className={css.notice}>
          {session.notice.text}
        </p>
      )}
    </>
  )
}

const REASONS = {
  watching: 'you only watch this shell.',
  paused: 'the sandbox is paused.',
  away: 'the shell is not connected.',
}

function Connection({ session, nudges, onAnother, onDismiss }: Props) {
  const { state } = session
  switch (state.kind) {
    case 'connecting':
    case 'reconnecting':
    case 'offline':
      if (state.kind === 'connecting' && !state.isAgain) return null
      return (
        <Banner tone="warn" icon={<Unplug size={15} aria-hidden />} nudges={nudges}>
          <span role="status">Connection lost. The shell keeps running; your input is not sent.</span>
          <Wait state={state} />
          <Button className={css.plain} disabled={state.kind === 'connecting'} onClick={() => session.retryNow()}>
            Reconnect
          </Button>
        </Banner>
      )
    case 'exited':
      return (
        <Banner tone={state.code === 0 ? 'plain' : 'bad'} nudges={0}>
          <span role="status">
            <strong>The shell ended</strong> with code {state.code}
            {state.cause !== 'exited' && ` (${state.cause})`}.
          </span>
          <Button look="primary" onClick={onAnother}>
            Open another
          </Button>
          <Button className={css.plain} onClick={onDismiss}>
            Close the tab
          </Button>
        </Banner>
      )
    case 'refused':
      return (
        <Banner tone="bad" nudges={0}>
          <span role="alert">{refusal(state)}</span>
          {state.status === 404 ? (
            <Button look="primary" onClick={onAnother}>
              Open another
            </Button>
          ) : (
            <Button className={css.plain} onClick={() => session.reconnect()}>
              Reconnect
            </Button>
          )}
          <Button className={css.plain} onClick={onDismiss}>
            Close the tab
          </Button>
        </Banner>
      )
    default:
      return null
  }
}

function Banner(props: { tone: string; icon?: ReactNode; nudges: number; children: ReactNode }) {
  return (
    // Another number creates another element, which repeats the animation.
    <div key={props.nudges} className={css.banner} data-tone={props.tone} data-nudged={props.nudges > 0 || undefined}>
      {props.icon}
      {props.children}
    </div>
  )
}

function Wait({ state }: { state: Extract<LinkState, { kind: 'connecting' | 'reconnecting' | 'offline' }> }) {
  const now = useNow()
  if (state.kind === 'offline') return <span>Offline since {clock(state.since)}.</span>
  const left = state.kind === 'reconnecting' ? state.at - now : 0
  return <span aria-hidden>{left > 1000 ? `Again in ${span(left)}.` : 'Trying…'}</span>
}

function refusal({ status, why }: { status: number; why: string }): string {
  switch (status) {
    case 401:
      return 'You are signed out, or you no longer have access to this sandbox.'
    case 403:
      return 'You do not have access to this shell.'
    case 404:
      return 'The shell no longer exists.'
    case 1008:
      return 'You have read access only and typed too often. The server closed the connection.'
    default:
      return why === '' ? 'The server refused the connection.' : `${why[0]?.toUpperCase()}${why.slice(1)}.`
  }
}
