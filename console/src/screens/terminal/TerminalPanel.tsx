import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { isAlive, isAsleep } from '~/api/sandbox-state'
import type { Sandbox } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import type { Shells } from '~/store/shells'
import { Failure, Skeleton } from '~/ui/States'
import type { PanelProps } from '../sandbox/tabs'
import { CommandsTable } from './CommandsTable'
import { Ended, NoShell, NotAllowed, Paused } from './NoShell'
import { ShellTabs } from './ShellTabs'
import { ShellView } from './ShellView'
import css from './TerminalPanel.module.css'
import { enterTerminal } from './terminal-keys'
import { type OpenShell, useOpenShell } from './use-open-shell'
import { useShells } from './use-shells'

const ROUTE = '/frame/console/sandboxes/$sandboxId'
/** Tab value of the list of commands. */
export const COMMANDS = 'commands'

/** Shells of a sandbox in tabs, and the list of its commands. */
export function TerminalPanel({ sandbox, watch, actions }: PanelProps) {
  const shells = useShells(sandbox.sandbox_id, isAsleep(sandbox), watch)
  if (shells === undefined) return null
  return <Panel shells={shells} sandbox={sandbox} watch={watch} actions={actions} />
}

function Panel({ shells, sandbox, watch, actions }: PanelProps & { shells: Shells }) {
  const asked = useSearch({ from: ROUTE, select: (search) => search.shell })
  const choose = useChoose(sandbox.sandbox_id)
  const opening = useOpenShell(shells, choose)
  const chosen = asked ?? shells.own
  const isLiving = isAlive(sandbox)

  useEffect(() => {
    // The address contains the selected tab, so that a reload restores it.
    if (asked === undefined && chosen !== undefined) choose(chosen)
  }, [asked, chosen, choose])

  const shell = chosen !== COMMANDS && isLiving && shells.isLoaded ? chosen : undefined
  useEffect(() => {
    if (shell !== undefined) shells.session(shell)
  }, [shells, shell])
  useWayIn(shell)
  return (
    <div className={css.panel}>
      <ShellTabs shells={shells} chosen={chosen} onChoose={choose} opening={opening} isAlive={isLiving} />
      {chosen === COMMANDS && <CommandsTable events={watch.events} />}
      {shells.shown.map((session) => (
        <ShellView
          key={session.id}
          shells={shells}
          session={session}
          isShown={session.id === shell}
          onAnother={opening.open}
          onAway={() => choose(undefined)}
          onResume={() => actions.resume.mutate()}
          isPaused={isAsleep(sandbox)}
        />
      ))}
      {chosen !== COMMANDS && shell === undefined && (
        <Nothing
          shells={shells}
          sandbox={sandbox}
          opening={opening}
          onCommands={() => choose(COMMANDS)}
          onResume={() => actions.resume.mutateAsync().then(opening.open)}
        />
      )}
    </div>
  )
}

interface NothingProps {
  readonly shells: Shells
  readonly sandbox: Sandbox
  readonly opening: OpenShell
  readonly onCommands: () => void
  readonly onResume: () => Promise<unknown>
}

/** Why there is no terminal, and how to get one. */
function Nothing({ shells, sandbox, opening, onCommands, onResume }: NothingProps) {
  if (sandbox.state === 'terminated' || sandbox.state === 'failed') return <Ended onCommands={onCommands} />
  if (isForbidden(shells.failure)) return <NotAllowed />
  if (!shells.isLoaded && shells.failure)
    return <Failure error={shells.failure} onRetry={() => void shells.refresh()} />
  if (!shells.isLoaded || sandbox.state === 'creating') return <Skeleton rows={6} label="Loading the shells" />
  if (isAsleep(sandbox)) return <Paused state={sandbox.state} onResume={onResume} />
  return <NoShell running={shells.tabs.length} opening={opening} />
}

/** The key that leaves a terminal also returns to it. */
function useWayIn(shell: string | undefined): void {
  const run = useMemo(() => () => enterTerminal(shell), [shell])
  useShortcuts(
    'Terminal',
    useMemo(() => [{ keys: 'F6', does: 'Enter or leave the terminal', run }], [run]),
  )
}

function isForbidden(failure: unknown): boolean {
  return failure instanceof Error && 'status' in failure && failure.status === 403
}

function useChoose(sandboxId: string): (shell: string | undefined) => void {
  const navigate = useNavigate()
  return useMemo(
    () => (shell: string | undefined) => {
      const search = { tab: 'terminal', ...(shell !== undefined && { shell }) }
      void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId }, search, replace: true })
    },
    [navigate, sandboxId],
  )
}
