import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { api, body } from '~/api/client'
import { ApiError, sentence } from '~/api/problem'
import type { Task } from '~/api/types'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { type Control, Field } from '~/ui/Field'
import form from '~/ui/form.module.css'
import { changed, EDIT_FIELDS, type EditDraft, type EditField, editDraftOf } from './edit'
import { PRIORITIES } from './graph-draft'
import css from './Task.module.css'

interface Props {
  readonly task: Task
  readonly onClose: () => void
  readonly onSaved: (task: Task) => void
}

/** Changes a task that waits. */
export function EditDialog({ task, onClose, onSaved }: Props) {
  const box = useRef<HTMLFormElement>(null)
  return (
    <Dialog title="Edit the task" onClose={onClose}>
      <EditForm
        ref={box}
        task={task}
        onSaved={(saved) => {
          onSaved(saved)
          box.current?.closest('dialog')?.close()
        }}
      />
    </Dialog>
  )
}

interface FormProps extends Omit<Props, 'onClose'> {
  readonly ref: React.Ref<HTMLFormElement>
}

function EditForm({ ref, task, onSaved }: FormProps) {
  const [draft, setDraft] = useState<EditDraft>(() => editDraftOf(task))
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const params = { path: { task_id: task.task_id } }
      return body(api.PATCH('/api/v1/tasks/{task_id}', { params, body: changed(task, draft) }))
    },
    onSuccess: onSaved,
  })
  const wrong = error instanceof ApiError ? error.fields.field : undefined
  const field = EDIT_FIELDS.find((one) => one === wrong)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const part = (name: EditField, label: string, control: (shared: Shared) => React.ReactNode) => (
    <Field label={label} problem={name === field && error ? sentence(error) : undefined}>
      {(given) =>
        control({
          ...given,
          value: draft[name],
          onChange: ({ target }) => setDraft((before) => ({ ...before, [name]: target.value })),
        })
      }
    </Field>
  )
  return (
    <form ref={ref} className={form.form} noValidate onSubmit={submit}>
      {part('title', 'Title', (shared) => (
        <input {...shared} />
      ))}
      {part('description', 'Description', (shared) => (
        <textarea {...shared} rows={6} />
      ))}
      <div className={css.trio}>
        {part('priority', 'Priority', (shared) => (
          <select {...shared}>
            {PRIORITIES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        ))}
        {part('timeout_minutes', 'Time limit in minutes', (shared) => (
          <input {...shared} inputMode="numeric" />
        ))}
        {part('queue_timeout_minutes', 'Queue limit in minutes', (shared) => (
          <input {...shared} inputMode="numeric" placeholder="none" />
        ))}
        {part('max_retries', 'Retries', (shared) => (
          <input {...shared} inputMode="numeric" />
        ))}
      </div>
      {error && field === undefined && (
        <p role="alert" className={form.problem}>
          {sentence(error)}
        </p>
      )}
      <div className={form.choices}>
        <Button type="submit" look="primary" disabled={isPending}>
          Save
        </Button>
      </div>
    </form>
  )
}

interface Shared extends Control {
  readonly value: string
  readonly onChange: (event: { target: { value: string } }) => void
}
