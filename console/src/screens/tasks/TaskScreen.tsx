import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { ApiError } from '~/api/problem'
import type { Task } from '~/api/types'
import { dependentsOf, inheritedOf, knotOf, noteOf, runOf } from '~/store/task-view'
import type { TaskWatch } from '~/store/task-watch'
import { Clamp } from '~/ui/Clamp'
import { money, plain } from '~/ui/format'
import { JsonTree } from '~/ui/JsonTree'
import { Prose } from '~/ui/Prose'
import { Section } from '~/ui/Section'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { TaskMark } from '~/ui/TaskMark'
import { When } from '~/ui/When'
import { Attempts } from './Attempts'
import { Fact } from './Fact'
import { GraphPicture } from './GraphPicture'
import { RepositoryPart } from './RepositoryPart'
import css from './Task.module.css'
import { TaskActions } from './TaskActions'
import { useConnected } from './use-tasks'

/** Costs of a running attempt, and the end of a cancelled one, have no event of the task. */
const EVERY_MS = 5_000

/** The page of a task: its description, its attempts, and the tasks that are connected with it. */
export function TaskScreen() {
  const { taskId } = useParams({ from: '/frame/console/tasks/$taskId' })
  const watch = useConnected(taskId)
  const task = watch?.tasks.find(taskId)
  useRefresh(watch, task)
  if (watch !== undefined && task !== undefined) return <OneTask watch={watch} task={task} />
  if (watch?.failure === undefined) return <Skeleton rows={8} label="Loading the task" />
  if (watch.failure instanceof ApiError && watch.failure.status === 404) return <Unknown taskId={taskId} />
  return <Failure isPage error={watch.failure} onRetry={() => void watch.load()} />
}

function useRefresh(watch: TaskWatch | undefined, task: Task | undefined): void {
  const live = task?.attempts.some((attempt) => attempt.ended_at === undefined) ? task.task_id : undefined
  useEffect(() => {
    if (watch === undefined || live === undefined) return
    const timer = setInterval(() => void watch.refresh(live).catch(() => undefined), EVERY_MS)
    return () => clearInterval(timer)
  }, [watch, live])
}

function Unknown({ taskId }: { taskId: string }) {
  return (
    <Empty isPage title="No such task">
      <p>
        The queue has no task <code>{plain(taskId)}</code>, or it belongs to another user.
      </p>
      <Link to="/console/tasks">Go to the tasks</Link>
    </Empty>
  )
}

function OneTask({ watch, task }: { watch: TaskWatch; task: Task }) {
  const all = watch.tasks.list
  return (
    <div className={css.screen}>
      <header className={css.header}>
        <div className={css.heading}>
          <h1>{plain(task.title)}</h1>
          <div className={css.standing}>
            <TaskMark status={task.status} />
            {task.message && <span>{plain(task.message)}</span>}
            {task.status === 'retrying' && task.next_attempt_at && (
              <span>
                Next attempt at <time dateTime={task.next_attempt_at}>{clockOf(task.next_attempt_at)}</time>
              </span>
            )}
          </div>
        </div>
        <TaskActions task={task} all={all} onChanged={(changed) => watch.tasks.put(changed)} />
      </header>
      <div className={css.columns}>
        <div className={css.column}>
          <Section title="Description">
            {task.description === '' ? (
              <p className={css.quiet}>None</p>
            ) : (
              <Clamp lines={14} of="description">
                <Prose>{task.description}</Prose>
              </Clamp>
            )}
            {task.command && (
              <Clamp lines={6} of="command" isCode>
                {plain(task.command.join(' '))}
              </Clamp>
            )}
          </Section>
          <Result task={task} />
          {task.repository && <RepositoryPart repository={task.repository} runId={runOf(task)} />}
        </div>
        <Facts task={task} all={all} />
      </div>
      <Attempts task={task} />
      <Connections all={all} task={task} />
    </div>
  )
}

function clockOf(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB')
}

/** The summary of the agent as text, the rest as a tree. */
function Result({ task }: { task: Task }) {
  if (task.result === undefined) return null
  const { summary, ...rest } = task.result as Readonly<Record<string, unknown>>
  return (
    <Section title="Result">
      {typeof summary === 'string' && <Prose>{summary}</Prose>}
      {Object.keys(rest).length > 0 && <JsonTree value={rest} depth={2} />}
      {Object.keys(rest).length === 0 && typeof summary !== 'string' && <p className={css.quiet}>Empty</p>}
    </Section>
  )
}

function Facts({ task, all }: { task: Task; all: readonly Task[] }) {
  return (
    <Section title="Facts">
      <dl className={css.facts}>
        <Fact name="Id">
          <code>{task.task_id}</code>
        </Fact>
        <Fact name="Owner">{plain(task.user_id)}</Fact>
        <Fact name="Priority">{task.priority}</Fact>
        <Fact name="Agent type">{task.agent_type && plain(task.agent_type)}</Fact>
        <Fact name="Runtime">{task.runtime ?? 'a worker outside of the server'}</Fact>
        <Fact name="Model">{task.model && plain(task.model)}</Fact>
        <Fact name="Guardian">{task.runtime && (task.guardian ?? 'policy of the server')}</Fact>
        <Fact name="Inherits">{task.inherit && <Inherited inherit={task.inherit} all={all} />}</Fact>
        <Fact name="Phase">{task.phase_id && plain(task.phase_id)}</Fact>
        <Fact name="Ticket">{task.ticket_id && plain(task.ticket_id)}</Fact>
        <Fact name="Time limit">{minutes(task.timeout_minutes)} per attempt</Fact>
        <Fact name="Queue limit">{task.queue_timeout_minutes && minutes(task.queue_timeout_minutes)}</Fact>
        <Fact name="Retries">at most {task.max_retries}</Fact>
        <Fact name="Budget">{task.budget_usd !== undefined && money(task.budget_usd)}</Fact>
        <Fact name="Cost">{money(task.cost_usd)}</Fact>
        <Fact name="Added">
          <When at={task.created_at} />
        </Fact>
        <Fact name="Updated">
          <When at={task.updated_at} />
        </Fact>
      </dl>
    </Section>
  )
}

function Inherited({ inherit, all }: { inherit: NonNullable<Task['inherit']>; all: readonly Task[] }) {
  const title = all.find((one) => one.task_id === inherit.from)?.title
  return (
    <>
      {inheritedOf(inherit)} of{' '}
      <Link to="/console/tasks/$taskId" params={{ taskId: inherit.from }}>
        {plain(title ?? inherit.from)}
      </Link>
    </>
  )
}

function minutes(count: number): string {
  return count === 1 ? '1 minute' : `${count} minutes`
}

/** The tasks before and after a task, and the graph as a picture. */
function Connections({ all, task }: { all: readonly Task[]; task: Task }) {
  const drawn = useMemo(
    () =>
      all.map((one) => ({
        ...knotOf(one),
        title: one.title,
        status: one.status,
        note: noteOf(one),
        isCurrent: one.task_id === task.task_id || undefined,
      })),
    [all, task.task_id],
  )
  if (all.length < 2) {
    return (
      <Section title="Dependencies">
        <p className={css.quiet}>The task depends on no other task, and no task depends on it.</p>
      </Section>
    )
  }
  return (
    <Section title="Dependencies">
      <div className={css.lists}>
        <TaskList title="Depends on" tasks={all.filter((one) => task.depends_on.includes(one.task_id))} />
        <TaskList title="Needed by" tasks={dependentsOf(all, task.task_id)} />
      </div>
      <GraphPicture tasks={drawn} label="Graph of the task" isLinked />
    </Section>
  )
}

function TaskList({ title, tasks }: { title: string; tasks: readonly Task[] }) {
  return (
    <div className={css.list}>
      <h3>{title}</h3>
      {tasks.length === 0 && <p className={css.quiet}>No task</p>}
      <ul>
        {tasks.map((one) => (
          <li key={one.task_id}>
            <TaskMark status={one.status} />
            <Link to="/console/tasks/$taskId" params={{ taskId: one.task_id }}>
              {plain(one.title)}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
