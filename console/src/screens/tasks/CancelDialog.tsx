import { useState } from 'react'
import type { Task } from '~/api/types'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'

type Choice = 'keep' | 'cancel'

interface Props {
  readonly task: Task
  /** Number of open tasks that depend on it, directly or not. */
  readonly dependents: number
  readonly onClose: () => void
  readonly onCancel: (dependents: Choice) => void
}

export function CancelDialog({ task, dependents, onClose, onCancel }: Props) {
  const [choice, choose] = useState<Choice>('keep')
  const others = dependents === 1 ? 'The task that depends on it' : `The ${dependents} tasks that depend on it`
  return (
    <Dialog title={`Cancel “${plain(task.title)}”?`} onClose={onClose}>
      <form method="dialog" className={form.form}>
        <p>The server stops its run. A retry starts the task again.</p>
        {dependents > 0 && (
          <fieldset className={form.set}>
            <legend>{others}</legend>
            <label className={form.choice}>
              <input type="radio" name="dependents" checked={choice === 'keep'} onChange={() => choose('keep')} />
              <span>
                Keep <span className={form.hint}>— blocked until this task is retried</span>
              </span>
            </label>
            <label className={form.choice}>
              <input type="radio" name="dependents" checked={choice === 'cancel'} onChange={() => choose('cancel')} />
              Cancel, too
            </label>
          </fieldset>
        )}
        <div className={form.choices}>
          <Button type="submit">Keep the task</Button>
          <Button type="submit" look="danger" onClick={() => onCancel(choice)}>
            Cancel the task
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
