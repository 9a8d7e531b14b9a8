import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { Task } from '~/api/types'
import { money, plain } from '~/ui/format'
import { TaskMark } from '~/ui/TaskMark'
import { When } from '~/ui/When'
import css from './Tasks.module.css'

interface Props {
  readonly tasks: readonly Task[]
  /** The tasks have several owners. */
  readonly hasOwners: boolean
}

export function TaskTable({ tasks, hasOwners }: Props) {
  return (
    <div className={css.scroller} data-pane>
      <table className={css.table} aria-label="Tasks">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Task</th>
            <th scope="col">Agent type</th>
            <th scope="col">Runtime</th>
            <th scope="col">Priority</th>
            <th scope="col">Depends on</th>
            <th scope="col">Attempts</th>
            <th scope="col">Cost</th>
            <th scope="col">Updated</th>
            {hasOwners && <th scope="col">Owner</th>}
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <Line key={task.task_id} task={task} hasOwner={hasOwners} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Line = memo(function Line({ task, hasOwner }: { task: Task; hasOwner: boolean }) {
  return (
    <tr className={css.line}>
      <td>
        <TaskMark status={task.status} />
      </td>
      <td className={css.task}>
        <Link to="/console/tasks/$taskId" params={{ taskId: task.task_id }} className={css.title} data-task>
          {plain(task.title)}
        </Link>
        {task.message && <span className={css.under}>{plain(task.message)}</span>}
      </td>
      <td data-column="wide">{task.agent_type && plain(task.agent_type)}</td>
      <td data-column="wide">{task.runtime ?? 'worker'}</td>
      <td data-column="wide">{task.priority}</td>
      <td data-column="wide">{task.depends_on.length || ''}</td>
      <td data-column="wide">{task.attempts.length || ''}</td>
      <td data-column="wide">{task.cost_usd > 0 && money(task.cost_usd)}</td>
      <td className={css.when}>
        <When at={task.updated_at} />
      </td>
      {hasOwner && <td data-column="wide">{plain(task.user_id)}</td>}
    </tr>
  )
})
