import type { LinkState } from '~/live/shell-link'
import type { ShellSession } from '~/store/shell-session'
import { plain } from '~/ui/format'
import css from './ShellView.module.css'

const WORDS: Record<LinkState['kind'], string> = {
  idle: 'Not connected',
  connecting: 'Connecting…',
  live: 'Connected',
  reconnecting: 'Reconnecting…',
  offline: 'Offline',
  exited: 'Ended',
  refused: 'Refused',
}

/** State of the terminal, and the key that leaves it, for screen readers too. */
export function StatusLine({ session, link, hintId }: { session: ShellSession; link?: string; hintId: string }) {
  const { size, people } = session
  return (
    <div className={css.status}>
      <span id={hintId}>
        <kbd>F6</kbd> leaves the terminal
      </span>
      {link !== undefined && <span className={css.link}>{plain(link)}</span>}
      <span className={css.standing}>
        {size && (
          <span title={people.length > 1 ? 'Size of the last user who typed' : undefined}>
            {size.cols} × {size.rows}
          </span>
        )}
        <span role="status">{WORDS[session.state.kind]}</span>
      </span>
    </div>
  )
}
