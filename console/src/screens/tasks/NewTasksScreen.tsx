import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { api, body } from '~/api/client'
import { useShortcuts } from '~/keys/shortcuts'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { GraphPicture } from './GraphPicture'
import {
  added,
  changedRow,
  drawnRows,
  emptyGraph,
  forget,
  type GraphDraft,
  removed,
  store,
  stored,
} from './graph-draft'
import { check, type GraphProblems, NO_PROBLEMS, refused, requestOf } from './graph-request'
import css from './NewTasks.module.css'
import { TaskRow } from './TaskRow'

/** A form for a small graph of tasks, with its picture. */
export function NewTasksScreen() {
  const [draft, setDraft] = useState(stored)
  const [problems, setProblems] = useState<GraphProblems>(NO_PROBLEMS)
  const box = useRef<HTMLFormElement>(null)
  const { send, isPending } = useSend(draft, setProblems)
  useFirstProblem(box, problems)
  const change = (next: GraphDraft, key?: string) => {
    setDraft(next)
    store(next)
    setProblems((before) => without(before, key))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = check(draft)
    setProblems(found)
    if (found.rows.size === 0 && !isPending) send()
  }
  useFormKeys(box)
  const drawn = useMemo(() => drawnRows(draft), [draft])
  return (
    <div className={css.screen}>
      <header className={css.header}>
        <h1>Add tasks</h1>
        <p className={css.about}>
          The server adds all tasks or none. A task starts when its dependencies are completed.
        </p>
      </header>
      <form ref={box} className={css.form} noValidate aria-label="Tasks" onSubmit={submit}>
        {problems.whole && (
          <p role="alert" className={form.problem}>
            {problems.whole}
          </p>
        )}
        <ol className={css.rows}>
          {draft.rows.map((row) => (
            <TaskRow
              key={row.key}
              row={row}
              others={draft.rows.filter((other) => other.key !== row.key)}
              problems={problems.rows.get(row.key) ?? {}}
              onChange={(part) => change(changedRow(draft, row.key, part), row.key)}
              onRemove={draft.rows.length === 1 ? undefined : () => change(removed(draft, row.key), row.key)}
            />
          ))}
        </ol>
        <div className={css.submit}>
          <Button icon={Plus} onClick={() => change(added(draft))}>
            Add another task
          </Button>
          <Button type="submit" look="primary" disabled={isPending} title="Ctrl Enter">
            {submitWord(draft.rows.length, isPending)}
          </Button>
          <Button
            look="quiet"
            onClick={() => {
              forget()
              setDraft(emptyGraph())
              setProblems(NO_PROBLEMS)
            }}
          >
            Clear the form
          </Button>
        </div>
      </form>
      <aside className={css.aside} aria-label="Picture">
        <GraphPicture tasks={drawn} label="Picture of the graph" />
      </aside>
    </div>
  )
}

function submitWord(count: number, isPending: boolean): string {
  if (isPending) return 'Submitting…'
  return count === 1 ? 'Submit the task' : `Submit ${count} tasks`
}

/** Sends the graph. Then it shows the graph on the page of its first task. */
function useSend(draft: GraphDraft, onRefused: (problems: GraphProblems) => void) {
  const navigate = useNavigate()
  const { mutate, isPending } = useMutation({
    mutationFn: () => body(api.POST('/api/v1/tasks/graph', { body: requestOf(draft) })),
    retry: false,
    onError: (error) => onRefused(refused(error, draft)),
    onSuccess: ({ tasks }) => {
      forget()
      const first = tasks[0]
      if (first === undefined) return
      if (tasks.length > 1) void navigate({ to: '/console/tasks', search: { view: 'graph' } })
      else void navigate({ to: '/console/tasks/$taskId', params: { taskId: first.task_id } })
    },
  })
  return { send: () => mutate(), isPending }
}

/** Moves the focus to the first field with a problem. */
function useFirstProblem(box: React.RefObject<HTMLFormElement | null>, problems: GraphProblems): void {
  useEffect(() => {
    if (problems.rows.size > 0) box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [box, problems])
}

/** The problems without those of a row that has changed: the next submission checks it again. */
function without({ rows, whole }: GraphProblems, key: string | undefined): GraphProblems {
  if (rows.size === 0 && whole === undefined) return NO_PROBLEMS
  return { rows: new Map([...rows].filter(([other]) => other !== key)) }
}

function useFormKeys(box: React.RefObject<HTMLFormElement | null>): void {
  useShortcuts(
    'Add tasks',
    useMemo(() => [{ keys: 'Mod+Enter', does: 'Submit the tasks', run: () => box.current?.requestSubmit() }], [box]),
  )
}
