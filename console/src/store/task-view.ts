import type { Task, TaskAttempt } from '~/api/types'
import { type Knot, layersOf, partsOf } from './layers'

export function knotOf({ task_id: id, depends_on: dependsOn }: Task): Knot {
  return { id, dependsOn }
}

/** Graphs with the newest tasks first. The tasks of a graph are in the order of their dependencies. */
export function arranged(tasks: readonly Task[]): Task[] {
  const known = new Map(tasks.map((task) => [task.task_id, task]))
  const knots = tasks.map(knotOf)
  const layers = layersOf(knots)
  const layer = ({ task_id: id }: Task) => layers.get(id) ?? 0
  return partsOf(knots)
    .map((part) => part.flatMap(({ id }) => known.get(id) ?? []))
    .map((part) => ({ part, newest: part.reduce((at, task) => (task.created_at > at ? task.created_at : at), '') }))
    .sort((a, b) => b.newest.localeCompare(a.newest))
    .flatMap(({ part }) => part.sort((a, b) => layer(a) - layer(b) || a.created_at.localeCompare(b.created_at)))
}

/** The agent types of tasks, in alphabetical order. */
export function agentTypes(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap((task) => task.agent_type ?? []))].sort()
}

/** A few words on a task beside its status. */
export function noteOf({ attempts, agent_type: type }: Task): string {
  const tries = attempts.length > 1 ? `attempt ${attempts.length}` : ''
  return [tries, type ?? ''].filter(Boolean).join(' · ')
}

/** Result of an attempt of a race. Undefined while it runs, and if its check failed. */
export type Place = 'won' | 'lost'

export function placeOf({ status, error_code: code }: TaskAttempt): Place | undefined {
  if (status === 'completed') return 'won'
  return code === 'race_lost' ? 'lost' : undefined
}

/** The run with the work of a task: that of the completed attempt, or else the newest. */
export function runOf({ attempts }: Task): string | undefined {
  const completed = attempts.find((attempt) => attempt.status === 'completed')
  return completed?.run_id ?? attempts.findLast((attempt) => attempt.run_id !== undefined)?.run_id
}

/** Text about the files and the conversation that a task inherits. */
export function inheritedOf({ files, conversation }: NonNullable<Task['inherit']>): string {
  return [files && 'files', conversation && 'conversation'].filter(Boolean).join(' and ')
}

/** The tasks that depend on a task directly. */
export function dependentsOf(tasks: readonly Task[], taskId: string): Task[] {
  return tasks.filter((task) => task.depends_on.includes(taskId))
}

/** Ids of the tasks that depend on a task, directly or not. */
export function downstreamOf(tasks: readonly Task[], taskId: string): Set<string> {
  const found = new Set<string>()
  const open = [taskId]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { task_id: id } of dependentsOf(tasks, next)) {
      if (found.has(id)) continue
      found.add(id)
      open.push(id)
    }
  }
  return found
}
