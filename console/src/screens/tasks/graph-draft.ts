import { NO_REPOSITORY, type RepositoryDraft } from '../git/repository-draft'
import type { Drawn } from './GraphPicture'

export const PRIORITIES = ['low', 'medium', 'high', 'critical'] as const
/** A task for `worker` has no runtime: a worker outside of the server claims it. */
export const TASK_RUNTIMES = ['claude', 'openhands', 'command', 'worker'] as const
export type TaskRuntime = (typeof TASK_RUNTIMES)[number]

/** A task as it is typed. */
export interface TaskDraft extends RepositoryDraft {
  /** Identifies the row while its name changes. */
  readonly key: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly runtime: TaskRuntime
  readonly command: string
  /** Keys of other rows. */
  readonly dependsOn: readonly string[]
  readonly agentType: string
  readonly priority: (typeof PRIORITIES)[number]
  readonly timeout: string
  readonly retries: string
  /** Empty for the policy of the server. */
  readonly guardian: string
}

export type TaskField = Exclude<keyof TaskDraft, 'key'>

export interface GraphDraft {
  readonly rows: readonly TaskDraft[]
}

const EMPTY: Omit<TaskDraft, 'key' | 'name' | 'runtime'> = {
  ...NO_REPOSITORY,
  title: '',
  description: '',
  command: '',
  dependsOn: [],
  agentType: '',
  priority: 'medium',
  timeout: '',
  retries: '',
  guardian: '',
}

export function emptyGraph(): GraphDraft {
  return added({ rows: [] })
}

/** Adds a row with a free name and the runtime of the last row. */
export function added({ rows }: GraphDraft): GraphDraft {
  const last = rows.at(-1)
  const numbers = rows.map((row) => Number(/\d+$/.exec(row.key)?.[0] ?? 0))
  const key = `row-${Math.max(0, ...numbers) + 1}`
  return { rows: [...rows, { ...EMPTY, key, name: freeName(rows), runtime: last?.runtime ?? 'command' }] }
}

function freeName(rows: readonly TaskDraft[]): string {
  const taken = new Set(rows.map((row) => row.name))
  let number = rows.length + 1
  while (taken.has(`task-${number}`)) number++
  return `task-${number}`
}

/** Removes a row, and the dependencies on it. */
export function removed({ rows }: GraphDraft, key: string): GraphDraft {
  const left = rows.filter((row) => row.key !== key)
  return { rows: left.map((row) => ({ ...row, dependsOn: row.dependsOn.filter((other) => other !== key) })) }
}

export function changedRow({ rows }: GraphDraft, key: string, part: Partial<TaskDraft>): GraphDraft {
  return { rows: rows.map((row) => (row.key === key ? { ...row, ...part } : row)) }
}

export function toggled(row: TaskDraft, other: string): readonly string[] {
  return row.dependsOn.includes(other) ? row.dependsOn.filter((key) => key !== other) : [...row.dependsOn, other]
}

/** The rows as a picture. */
export function drawnRows({ rows }: GraphDraft): Drawn[] {
  return rows.map((row) => ({
    id: row.key,
    dependsOn: row.dependsOn,
    title: row.title.trim() || row.name,
    note: row.title.trim() === '' ? undefined : row.name,
  }))
}

const STORED = 'viv.graph'

/** The draft that was not submitted. The storage may contain anything: the rest counts as not given. */
export function stored(storage: Storage = localStorage): GraphDraft {
  try {
    const given: unknown = JSON.parse(storage.getItem(STORED) ?? '{}')
    const rows = typeof given === 'object' && given !== null && 'rows' in given ? given.rows : undefined
    const read = Array.isArray(rows) ? rows.flatMap(readRow) : []
    return read.length === 0 ? emptyGraph() : { rows: read }
  } catch {
    return emptyGraph()
  }
}

function readRow(given: unknown): TaskDraft[] {
  if (typeof given !== 'object' || given === null) return []
  const row = given as Record<string, unknown>
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '')
  const keys = Array.isArray(row.dependsOn) ? row.dependsOn.filter((key) => typeof key === 'string') : []
  if (text('key') === '') return []
  return [
    {
      key: text('key'),
      name: text('name'),
      title: text('title'),
      description: text('description'),
      command: text('command'),
      agentType: text('agentType'),
      timeout: text('timeout'),
      retries: text('retries'),
      guardian: text('guardian'),
      repository: text('repository'),
      revision: text('revision'),
      credential: text('credential'),
      ticket: text('ticket'),
      onSuccess: text('onSuccess'),
      dependsOn: keys,
      runtime: TASK_RUNTIMES.find((one) => one === row.runtime) ?? 'command',
      priority: PRIORITIES.find((one) => one === row.priority) ?? 'medium',
    },
  ]
}

export function store(draft: GraphDraft, storage: Storage = localStorage): void {
  storage.setItem(STORED, JSON.stringify(draft))
}

export function forget(storage: Storage = localStorage): void {
  storage.removeItem(STORED)
}
