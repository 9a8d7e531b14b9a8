import { useRouteContext } from '@tanstack/react-router'
import { Eye, Search, Settings2, SquareX } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '~/api/problem'
import type { ShellSession } from '~/store/shell-session'
import type { Shells } from '~/store/shells'
import { Button } from '~/ui/Button'
import { EndDialog } from './EndDialog'
import { People } from './People'
import { SettingsDialog } from './SettingsDialog'
import css from './ShellView.module.css'
import { KEYS } from './terminal-keys'

interface Props {
  readonly shells: Shells
  readonly session: ShellSession
  readonly isPaused: boolean
  readonly onSearch: () => void
  /** The focus returns to the terminal. */
  readonly onDone: () => void
}

/** Participants of the shell, and its actions. */
export function Tools({ shells, session, isPaused, onSearch, onDone }: Props) {
  const [dialog, setDialog] = useState<'settings' | 'end'>()
  const [problem, setProblem] = useState<unknown>()
  const { session: signedIn } = useRouteContext({ from: '/frame' })
  const isLive = session.state.kind === 'live'
  const isTypist = isLive && session.role === 'typist'
  const close = () => {
    setDialog(undefined)
    onDone()
  }
  return (
    <div className={css.tools}>
      <People people={session.people} me={signedIn.user_id} />
      {problem !== undefined && (
        <span role="alert" className={css.problem}>
          {sentence(problem)}
        </span>
      )}
      <div className={css.buttons}>
        {isTypist && (
          <Button
            look="quiet"
            icon={Eye}
            title="Watch without input"
            onClick={() => shells.watchOnly(session.id, true)}
          >
            Watch only
          </Button>
        )}
        <Button look="quiet" icon={Search} compact title={`Search (${KEYS.search})`} onClick={onSearch}>
          Search
        </Button>
        <Button
          look="quiet"
          icon={Settings2}
          compact
          title="Settings of the terminal"
          onClick={() => setDialog('settings')}
        >
          Settings of the terminal
        </Button>
        {isTypist && (
          <Button
            look="quiet"
            icon={SquareX}
            compact
            title="End this shell"
            disabled={isPaused}
            onClick={() => setDialog('end')}
          >
            End this shell
          </Button>
        )}
      </div>
      {dialog === 'settings' && <SettingsDialog shells={shells} id={session.id} onClose={close} />}
      {dialog === 'end' && (
        <EndDialog
          others={session.people.length - 1}
          onClose={close}
          onEnd={() => void shells.end(session.id).catch(setProblem)}
        />
      )}
    </div>
  )
}
