import { useNavigate } from '@tanstack/react-router'
import { CircleStop, Pause, Play, Trash2, Users } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { sentence } from '~/api/problem'
import { isActive, isAlive, isAsleep } from '~/api/sandbox-state'
import type { Run, Sandbox } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { isReachable } from '~/live/state'
import { isIdle } from '~/store/fleet-view'
import type { Watch } from '~/store/watch'
import { Button } from '~/ui/Button'
import { Confirm } from '~/ui/Confirm'
import { plain } from '~/ui/format'
import { StatusMark } from '~/ui/StatusMark'
import { useFleet } from '../frame/fleet-context'
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
  const isLiving = isAlive(sandbox)
  const blocked = isReachable(watch.state) ? undefined : OFFLINE
  const may = useMay(sandbox)
  const isOwner = useIsOwner(sandbox)
  const row = useFleet().fleet.find(sandbox.sandbox_id)
  const share = useShare(sandbox.sandbox_id)
  usePauseKey(() => {
    if (blocked !== undefined || !isLiving || !may('process')) return
    if (isAsleep(sandbox)) actions.resume.mutate()
    else actions.pause.mutate()
  })
  const problem = actions.pause.error ?? actions.resume.error ?? actions.stop.error ?? actions.end.error
  return (
    <header className={css.header}>
      <div className={css.heading}>
        <h1>{plain(sandbox.run?.task?.title ?? sandbox.thread_id)}</h1>
        <div className={css.standing}>
          <StatusMark status={row && isIdle(row) ? 'idle' : sandbox.status} />
          {sandbox.reason && sandbox.reason !== sandbox.run?.reason && (
            <span className={css.reason}>{plain(sandbox.reason)}</span>
          )}
          <Heartbeat sandbox={sandbox} events={watch.events} />
        </div>
        {problem && (
          <p role="alert" className={css.problem}>
            {sentence(problem)}
          </p>
        )}
      </div>
      {isLiving && (
        <div className={css.actions}>
          <Button icon={Users} title="Members and present users (s)" onClick={share}>
            Share
          </Button>
          {may('process') && <Hold sandbox={sandbox} actions={actions} blocked={blocked} />}
          {may('process') && isActive(sandbox.run) && <Stop run={sandbox.run} actions={actions} blocked={blocked} />}
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
      {isEnding && (
        <Confirm
          title="End this sandbox?"
          keep="Keep it"
          confirm="End it"
          onConfirm={() => actions.end.mutate()}
          onClose={() => setEnding(false)}
        >
          <p>All processes end and the server deletes the files. The timeline stays.</p>
        </Confirm>
      )}
    </header>
  )
}

interface HoldProps {
  readonly sandbox: Sandbox
  readonly actions: Actions
  readonly blocked: string | undefined
}

const TITLES: Partial<Record<Sandbox['state'], string>> = {
  running: 'Freezes every process',
  paused: 'Resumes every process in it',
  hibernated: 'Starts it again on its files',
}

/** Pause, or resume. */
function Hold({ sandbox, actions, blocked }: HoldProps) {
  const isPaused = isAsleep(sandbox)
  const action = isPaused ? actions.resume : actions.pause
  return (
    <Button
      icon={isPaused ? Play : Pause}
      disabled={blocked !== undefined || action.isPending}
      title={blocked ?? TITLES[sandbox.state]}
      onClick={() => action.mutate()}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  )
}

interface StopProps {
  readonly run: Run
  readonly actions: Actions
  readonly blocked: string | undefined
}

/** Stops the run after a confirmation. The worker has some seconds to exit: until then the button is disabled. */
function Stop({ run, actions, blocked }: StopProps) {
  const [isAsked, ask] = useState(false)
  const { mutate, variables, isPending, isSuccess } = actions.stop
  const isStopping = variables === run.run_id && (isPending || isSuccess)
  const isOff = blocked !== undefined || isStopping
  const open = useMemo(() => () => ask(true), [])
  useShortcuts(
    'Sandbox',
    useMemo(() => (isOff ? [] : [{ keys: 'x', does: 'Stop the run, with a confirmation', run: open }]), [isOff, open]),
  )
  return (
    <>
      <Button
        icon={CircleStop}
        disabled={isOff}
        title={blocked ?? 'Stops the agent and keeps the sandbox (x)'}
        onClick={open}
      >
        {isStopping ? 'Stopping' : 'Stop run'}
      </Button>
      {isAsked && (
        <Confirm
          title="Stop this run?"
          keep="Let it run"
          confirm="Stop it"
          onConfirm={() => mutate(run.run_id)}
          onClose={() => ask(false)}
        >
          <p>The agent and its processes end, and the run fails as aborted. The sandbox and its files stay.</p>
        </Confirm>
      )}
    </>
  )
}

/** Opens the sharing tab, by button or shortcut. */
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
