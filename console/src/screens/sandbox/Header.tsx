import { useNavigate } from '@tanstack/react-router'
import { Pause, Play, Trash2, Users } from 'lucide-react'
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
import { useIsOwner, useMay } from './use-may'

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
  const may = useMay(sandbox)
  const isOwner = useIsOwner(sandbox)
  const share = useShare(sandbox.sandbox_id)
  usePauseKey(() => {
    if (blocked !== undefined || !isAlive || !may('process')) return
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
          <Button icon={Users} title="Members and present users (s)" onClick={share}>
            Share
          </Button>
          {may('process') && <Hold sandbox={sandbox} actions={actions} blocked={blocked} />}
          {isOwner && (
            <Button
              look="danger"
              icon={Trash2}
              disabled={blocked !== undefined}
              title={blocked}
              onClick={() => setEnding(true)}
            >
              End
            </Button>
          )}
        </div>
      )}
      {isEnding && <EndDialog onClose={() => setEnding(false)} onEnd={() => actions.end.mutate()} />}
    </header>
  )
}

interface HoldProps {
  readonly sandbox: Sandbox
  readonly actions: Actions
  readonly blocked: string | undefined
}

/** Pause, or resume. */
function Hold({ sandbox, actions, blocked }: HoldProps) {
  const isPaused = sandbox.state === 'paused'
  const action = isPaused ? actions.resume : actions.pause
  return (
    <Button
      icon={isPaused ? Play : Pause}
      disabled={blocked !== undefined || action.isPending}
      title={blocked ?? (isPaused ? 'Resumes every process in it' : 'Freezes every process')}
      onClick={() => action.mutate()}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  )
}

/** Goes to who may come and who is there, by a button and by a key. */
function useShare(sandboxId: string): () => void {
  const navigate = useNavigate()
  const share = useMemo(
    () => () =>
      void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId }, search: { tab: 'sharing' } }),
    [navigate, sandboxId],
  )
  useShortcuts(
    'Sandbox',
    useMemo(() => [{ keys: 's', does: 'Share it', run: share }], [share]),
  )
  return share
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
      <p>All processes end and the server deletes the files. The timeline stays.</p>
      <form method="dialog" className={css.choices}>
        <Button type="submit">Keep it</Button>
        <Button type="submit" look="danger" onClick={onEnd}>
          End it
        </Button>
      </form>
    </Dialog>
  )
}
