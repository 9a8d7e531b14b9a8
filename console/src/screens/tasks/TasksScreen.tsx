import { useNavigate, useRouteContext, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useMemo, useRef } from 'react'
import type { Task, TaskStatus } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { agentTypes, arranged, knotOf, noteOf } from '~/store/task-view'
import type { TaskFilter } from '~/store/task-watch'
import { Button } from '~/ui/Button'
import { whole } from '~/ui/format'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { type Drawn, GraphPicture } from './GraphPicture'
import css from './Tasks.module.css'
import { TaskTable } from './TaskTable'
import { TaskTools, Views } from './TaskTools'
import { useTasks } from './use-tasks'

/** More boxes than this are not readable, and slow to draw. */
const MOST_DRAWN = 300
const ALL: TaskFilter = {}

/** The tasks of the queue, as a list or as a picture. The address has the filter. */
export function TasksScreen() {
  const { status, agent_type: agentType, view } = useSearch({ from: '/frame/console/tasks' })
  const navigate = useNavigate({ from: '/console/tasks' })
  const { session } = useRouteContext({ from: '/frame' })
  const isPicture = view === 'graph'
  // A picture without the other tasks has no dependencies: the filter only dims them.
  const watch = useTasks(isPicture ? ALL : { status, agentType })
  const list = watch?.tasks.list
  const tasks = useMemo(() => arranged(list ?? []), [list])
  const change = (part: { status?: TaskStatus; agent_type?: string; view?: 'graph' }) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true })
  const isFiltered = status !== undefined || agentType !== undefined
  useTaskKeys()
  const isLoaded = watch?.tasks.isLoaded ?? false
  return (
    <div className={css.screen} data-view={isPicture ? 'graph' : undefined}>
      <header className={css.header}>
        <h1>Tasks</h1>
        <Views isPicture={isPicture} onChange={(next) => change({ view: next })} />
        <Button look="primary" icon={Plus} title="n" onClick={() => void navigate({ to: '/console/tasks/new' })}>
          Add tasks
        </Button>
      </header>
      <TaskTools choice={{ status, agentType }} types={agentTypes(list ?? [])} onChange={change} />
      {watch?.failure !== undefined && <Failure error={watch.failure} onRetry={() => void watch.load()} />}
      {!isLoaded && watch?.failure === undefined && <Skeleton rows={8} label="Loading the tasks" />}
      {isLoaded && tasks.length === 0 && (
        <Nothing isFiltered={isFiltered && !isPicture} onClear={() => void navigate({ search: { view } })} />
      )}
      {tasks.length > 0 && !isPicture && <TaskTable tasks={tasks} hasOwners={session.is_admin} />}
      {tasks.length > 0 && isPicture && <Picture tasks={tasks} status={status} agentType={agentType} />}
      {watch?.hasMore && !isPicture && (
        <div className={css.more}>
          <Button onClick={() => void watch.more()}>Load older tasks</Button>
        </div>
      )}
    </div>
  )
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const navigate = useNavigate()
  if (isFiltered) {
    return (
      <Empty title="No task matches">
        <Button onClick={onClear}>Clear the filter</Button>
      </Empty>
    )
  }
  return (
    <Empty title="No task yet">
      <p>The server runs tasks one after the other, as their dependencies and its limits permit.</p>
      <Button look="primary" icon={Plus} onClick={() => void navigate({ to: '/console/tasks/new' })}>
        Add tasks
      </Button>
    </Empty>
  )
}

function Picture({ tasks, status, agentType }: TaskFilter & { tasks: readonly Task[] }) {
  const drawn = useMemo(
    () => tasks.slice(0, MOST_DRAWN).map((task) => drawnOf(task, { status, agentType })),
    [tasks, status, agentType],
  )
  return (
    <>
      {tasks.length > MOST_DRAWN && (
        <p className={css.note}>
          The picture has the newest {whole(MOST_DRAWN)} tasks. The page of a task has its complete graph.
        </p>
      )}
      <GraphPicture tasks={drawn} label="Graph of the tasks" isLinked />
    </>
  )
}

function drawnOf(task: Task, { status, agentType }: TaskFilter): Drawn {
  const isIncluded =
    (status === undefined || task.status === status) && (agentType === undefined || task.agent_type === agentType)
  return {
    ...knotOf(task),
    title: task.title,
    status: task.status,
    note: noteOf(task),
    isDimmed: isIncluded ? undefined : true,
  }
}

function useTaskKeys(): void {
  const navigate = useNavigate({ from: '/console/tasks' })
  const latest = useRef(navigate)
  latest.current = navigate
  const keys = useMemo(() => {
    const move = (by: number) => {
      const links = [...document.querySelectorAll<HTMLAnchorElement>('a[data-task]')]
      const now = links.indexOf(document.activeElement as HTMLAnchorElement)
      const next = now < 0 ? links[0] : links[Math.min(links.length - 1, Math.max(0, now + by))]
      next?.focus()
    }
    return [
      { keys: 'j', does: 'Next task', run: () => move(1) },
      { keys: 'k', does: 'Previous task', run: () => move(-1) },
      { keys: 'n', does: 'Add tasks', run: () => void latest.current({ to: '/console/tasks/new' }) },
      {
        keys: 'v',
        does: 'List or graph',
        run: () =>
          void latest.current({
            search: (now) => ({ ...now, view: now.view === 'graph' ? undefined : ('graph' as const) }),
            replace: true,
          }),
      },
    ]
  }, [])
  useShortcuts('Tasks', keys)
}
