import { Pause, Play, Trash2 } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { sentence } from '~/api/problem'
import type { Sandbox } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { isReachable } from '~/live/state'
import type { Watch } from '~/store/watch'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { plain } from '~/ui/format'
import { StatusMark } from '~/ui/StatusMark'
import { Heartbeat } from './Heartbeat'
import css from './SandboxScreen.module.css'
import type { Actions } from './use-actions'

const OFFLINE = 'The server cannot be reached now'

interface Props {
  readonly sandbox: Sandbox
  readonly watch: Watch
  readonly actions: Actions
}

export function Header({ sandbox, watch, actions }: Props) {
  const [isEnding, setEnding] = useState(false)
  const isAlive = sandbox.state === 'running' || sandbox.state === 'paused'
  const blocked = isReachable(watch.state) ? undefined : OFFLINE
  usePauseKey(() => {
    if (blocked !== undefined || !isAlive) return
    if (sandbox.state === 'paused') actions.resume.mutate()
    else actions.pause.mutate()
  })
  const problem = actions.pause.error ?? actions.resume.error ?? actions.end.error
  return (
    <header className={css.header}>
      <div className={css.heading}>
        <h1>{plain(sandbox.run?.task?.title ?? sandbox.thread_id)}</h1>
        <div className={css.standing}>
          <StatusMark status={sandbox.status} />
          {sandbox.reason && <span className={css.reason}>{plain(sandbox.reason)}</span>}
          <Heartbeat sandbox={sandbox} events={watch.events} />
        </div>
        {problem && (
          <p role="alert" className={css.problem}>
            {sentence(problem)}
          </p>
        )}
      </div>
      {isAlive && (
        <div className={css.actions}>
          {sandbox.state === 'paused' ? (
            <Button
              icon={Play}
              disabled={blocked !== undefined || actions.resume.isPending}
              title={blocked ?? 'Everything in it goes on'}
              onClick={() => actions.resume.mutate()}
            >
              Resume
            </Button>
          ) : (
            <Button
              icon={Pause}
              disabled={blocked !== undefined || actions.pause.isPending}
              title={blocked ?? 'Freezes every process; nothing is lost'}
              onClick={() => actions.pause.mutate()}
            >
              Pause
            </Button>
          )}
          <Button
            look="danger"
            icon={Trash2}
            disabled={blocked !== undefined}
            title={blocked}
            onClick={() => setEnding(true)}
          >
            End
          </Button>
        </div>
      )}
      {isEnding && <EndDialog onClose={() => setEnding(false)} onEnd={() => actions.end.mutate()} />}
    </header>
  )
}

function usePauseKey(toggle: () => void): void {
  const latest = useRef(toggle)
  latest.current = toggle
  useShortcuts(
    'Sandbox',
    useMemo(() => [{ keys: 'p', does: 'Pause or resume', run: () => latest.current() }], []),
  )
}

function EndDialog({ onClose, onEnd }: { onClose: () => void; onEnd: () => void }) {
  return (
    <Dialog title="End this sandbox?" onClose={onClose}>
      <p>Every process in it ends and its files are removed. The timeline stays.</p>
      <form method="dialog" className={css.choices}>
        <Button type="submit">Keep it</Button>
        <Button type="submit" look="danger" onClick={onEnd}>
          End it
        </Button>
      </form>
    </Dialog>
  )
}
