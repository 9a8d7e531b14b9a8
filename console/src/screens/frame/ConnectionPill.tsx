import { connections, useConnection } from '~/live/connections'
import type { LiveState } from '~/live/state'
import { clock, count, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import css from './Frame.module.css'

const TONES: Record<LiveState['kind'], string> = {
  connecting: 'waiting',
  live: 'good',
  'catching-up': 'waiting',
  reconnecting: 'poor',
  offline: 'poor',
  ended: 'waiting',
}

/** Whether the page is live. */
export function ConnectionPill() {
  const state = useConnection()
  return (
    <div className={css.pill} data-tone={TONES[state.kind]}>
      <span className={css.dot} aria-hidden />
      <span role="status">{state.kind === 'reconnecting' ? 'Reconnecting' : <Words state={state} />}</span>
      <span role="alert" className="visually-hidden">
        {(state.kind === 'reconnecting' || state.kind === 'offline') && 'The connection to the server is lost.'}
      </span>
      {state.kind === 'reconnecting' && (
        <>
          <Countdown until={state.at} />
          <button type="button" className={css.retry} onClick={connections.retryNow}>
            Retry now
          </button>
        </>
      )}
    </div>
  )
}

function Words({ state }: { state: LiveState }) {
  switch (state.kind) {
    case 'connecting':
      return 'Connecting'
    case 'live':
      return 'Live'
    case 'catching-up':
      return `Catching up ${count(state.behind)}`
    case 'reconnecting':
      return 'Reconnecting'
    case 'offline':
      return `Offline since ${clock(state.since)}`
    case 'ended':
      return 'Ended'
  }
}

/** Separate from the text, so that screen readers do not announce it every second. */
function Countdown({ until }: { until: number }) {
  const left = until - useNow()
  return <span aria-hidden>{left > 1000 ? `in ${span(left)}` : '…'}</span>
}
