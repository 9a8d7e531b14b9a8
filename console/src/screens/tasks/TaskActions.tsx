import { useMutation } from '@tanstack/react-query'
import { Ban, Pencil, RotateCcw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api, body } from '~/api/client'
import { sentence } from '~/api/problem'
import type { Task } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { downstreamOf } from '~/store/task-view'
import { isEditable, isEnded, isRetryable } from '~/store/tasks'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { CancelDialog } from './CancelDialog'
import { EditDialog } from './EditDialog'
import css from './Task.module.css'

interface Props {
  readonly task: Task
  /** The tasks that are connected with it. */
  readonly all: readonly Task[]
  readonly onChanged: (task: Task) => void
}

/** Edit, cancel and retry, where the status permits it. */
export function TaskActions({ task, all, onChanged }: Props) {
  const [open, setOpen] = useState<'edit' | 'cancel'>()
  const params = { path: { task_id: task.task_id } }
  const retry = useMutation({
    mutationFn: () => body(api.POST('/api/v1/tasks/{task_id}/retry', { params })),
    onSuccess: onChanged,
  })
  const cancel = useMutation({
    mutationFn: (dependents: 'cancel' | 'keep') =>
      body(api.POST('/api/v1/tasks/{task_id}/cancel', { params, body: { dependents } })),
    onSuccess: onChanged,
  })
  const [canEdit, canCancel, canRetry] = [isEditable(task), !isEnded(task), isRetryable(task)]
  const { mutate: retryNow } = retry
  useShortcuts(
    'Task',
    useMemo(
      () => [
        ...(canEdit ? [{ keys: 'e', does: 'Edit the task', run: () => setOpen('edit') }] : []),
        ...(canCancel ? [{ keys: 'x', does: 'Cancel the task', run: () => setOpen('cancel') }] : []),
        ...(canRetry ? [{ keys: 'r', does: 'Retry the task', run: () => retryNow() }] : []),
      ],
      [canEdit, canCancel, canRetry, retryNow],
    ),
  )
  const problem = cancel.error ?? retry.error
  const downstream = useMemo(() => downstreamOf(all, task.task_id), [all, task.task_id])
  const dependents = all.filter((one) => !isEnded(one) && downstream.has(one.task_id))
  return (
    <div className={css.actions}>
      {canEdit && (
        <Button icon={Pencil} title="e" onClick={() => setOpen('edit')}>
          Edit
        </Button>
      )}
      {canRetry && (
        <Button icon={RotateCcw} title="r" disabled={retry.isPending} onClick={() => retryNow()}>
          Retry
        </Button>
      )}
      {canCancel && (
        <Button look="danger" icon={Ban} title="x" disabled={cancel.isPending} onClick={() => setOpen('cancel')}>
          Cancel
        </Button>
      )}
      {problem && (
        <p role="alert" className={form.problem}>
          {sentence(problem)}
        </p>
      )}
      {open === 'edit' && <EditDialog task={task} onClose={() => setOpen(undefined)} onSaved={onChanged} />}
      {open === 'cancel' && (
        <CancelDialog
          task={task}
          dependents={dependents.length}
          onClose={() => setOpen(undefined)}
          onCancel={(choice) => cancel.mutate(choice)}
        />
      )}
    </div>
  )
}
