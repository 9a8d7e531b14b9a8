import { useState } from 'react'
import type { Entry } from '~/api/files'
import { sentence } from '~/api/problem'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { focusFirst } from '~/ui/focus-first'
import { plain } from '~/ui/format'
import css from './FilesPanel.module.css'

interface PathProps {
  readonly title: string
  readonly action: string
  readonly initial: string
  readonly run: (path: string) => Promise<void>
  readonly onClose: () => void
}

/** Asks for a path in the workspace. A refusal is shown, and the dialog stays open. */
export function PathDialog({ title, action, initial, run, onClose }: PathProps) {
  const [path, setPath] = useState(initial)
  const { attempt, problem, isBusy } = useAttempt(onClose)
  const wanted = path.trim().replace(/^\/+|\/+$/g, '')
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (wanted !== '') attempt(() => run(wanted))
        }}
      >
        <label className={css.label}>
          Path in the workspace
          <input
            className={css.field}
            value={path}
            ref={focusFirst}
            spellCheck={false}
            onChange={(event) => setPath(event.target.value)}
          />
        </label>
        {problem !== undefined && (
          <p role="alert" className={css.problem}>
            {sentence(problem)}
          </p>
        )}
        <div className={css.choices}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={isBusy || wanted === '' || wanted === initial}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Confirmation of a deletion. */
export function RemoveDialog({ entry, run, onClose }: { entry: Entry; run: () => Promise<void>; onClose: () => void }) {
  const { attempt, problem, isBusy } = useAttempt(onClose)
  return (
    <Dialog title="Delete?" onClose={onClose}>
      <p>
        <code>{plain(entry.path)}</code>
        {entry.type === 'directory' ? ' and everything in it' : ''} is removed from the sandbox. The log keeps small
        texts.
      </p>
      {problem !== undefined && (
        <p role="alert" className={css.problem}>
          {sentence(problem)}
        </p>
      )}
      <div className={css.choices}>
        <Button onClick={onClose}>Keep it</Button>
        <Button look="danger" disabled={isBusy} onClick={() => attempt(run)}>
          Delete it
        </Button>
      </div>
    </Dialog>
  )
}

/** Runs the action, and closes the dialog if it succeeds. */
function useAttempt(onDone: () => void) {
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const attempt = (task: () => Promise<void>) => {
    setBusy(true)
    setProblem(undefined)
    task()
      .then(onDone, setProblem)
      .finally(() => setBusy(false))
  }
  return { attempt, problem, isBusy }
}
