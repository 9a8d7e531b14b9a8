import { Play, TerminalSquare } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '~/api/problem'
import type { Sandbox } from '~/api/types'
import { Button } from '~/ui/Button'
import { Empty } from '~/ui/States'
import css from './TerminalPanel.module.css'
import { isOnTab } from './terminal-keys'
import type { OpenShell } from './use-open-shell'

/** Shown if the user has no shell here. */
export function NoShell({ running, opening }: { running: number; opening: OpenShell }) {
  return (
    <Empty title="No shell open">
      {running > 0 && (
        <p>{running === 1 ? 'One shell runs here' : `${running} shells run here`}: select a tab to watch.</p>
      )}
      {opening.isRefused ? (
        <p role="alert">
          You may watch the shells of this sandbox, but not open one. The owner can grant you the scope shell.
        </p>
      ) : (
        <>
          <p>A shell keeps running in the sandbox when you leave. You can reattach to it.</p>
          {opening.error && (
            <p role="alert" className={css.problem}>
              {sentence(opening.error)}
            </p>
          )}
          <Button
            look="primary"
            icon={TerminalSquare}
            autoFocus={!isOnTab()}
            disabled={opening.isPending}
            onClick={opening.open}
          >
            Open a shell
          </Button>
        </>
      )}
    </Empty>
  )
}

/** A paused or hibernated sandbox starts only on request. */
export function Paused({ state, onResume }: { state: Sandbox['state']; onResume: () => Promise<unknown> }) {
  const [problem, setProblem] = useState<unknown>()
  return (
    <Empty title={`The sandbox is ${state}`}>
      <p>
        {state === 'paused'
          ? 'Its shells are paused with it. No data is lost.'
          : 'Its files are kept. Its processes have ended.'}
      </p>
      {problem !== undefined && (
        <p role="alert" className={css.problem}>
          {sentence(problem)}
        </p>
      )}
      <Button look="primary" icon={Play} onClick={() => void onResume().catch(setProblem)}>
        Resume and open
      </Button>
    </Empty>
  )
}

export function Ended({ onCommands }: { onCommands: () => void }) {
  return (
    <Empty title="The sandbox and its shells have ended">
      <p>The log has their output.</p>
      <Button onClick={onCommands}>Show its commands</Button>
    </Empty>
  )
}

export function NotAllowed() {
  return (
    <Empty title="You do not have access to the shells of this sandbox">
      <p>The owner can grant you the scope shell:ro or shell.</p>
    </Empty>
  )
}
