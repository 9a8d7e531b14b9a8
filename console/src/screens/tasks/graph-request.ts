import { ApiError, sentence } from '~/api/problem'
import type { components } from '~/api/schema'
import { policyOf } from '~/store/policies'
import { REPOSITORY_FIELDS, repositoryOf } from '../git/repository-draft'
import { split } from '../spawn/words'
import type { GraphDraft, TaskDraft, TaskField } from './graph-draft'

type NewGraph = components['schemas']['NewTaskGraph']
type NewTask = components['schemas']['NewGraphTask']

/** Problems of a row by field. */
export type RowProblems = Partial<Record<TaskField, string>>

export interface GraphProblems {
  /** By the key of a row. */
  readonly rows: ReadonlyMap<string, RowProblems>
  /** A problem of the whole graph. */
  readonly whole?: string
}

export const NO_PROBLEMS: GraphProblems = { rows: new Map() }

/** The body of the request for a draft. */
export function requestOf({ rows }: GraphDraft): NewGraph {
  const names = new Map(rows.map((row) => [row.key, row.name.trim()]))
  return { tasks: rows.map((row) => taskOf(row, names)) }
}

function taskOf(row: TaskDraft, names: ReadonlyMap<string, string>): NewTask {
  const words = split(row.command)
  const task: NewTask = {
    name: row.name.trim() || undefined,
    title: row.title.trim(),
    description: row.description.trim() || undefined,
    runtime: row.runtime === 'worker' ? undefined : row.runtime,
    command: row.runtime === 'command' ? ('words' in words ? [...words.words] : []) : undefined,
    depends_on: row.dependsOn.length === 0 ? undefined : row.dependsOn.flatMap((key) => names.get(key) ?? []),
    agent_type: row.agentType.trim() || undefined,
    priority: row.priority === 'medium' ? undefined : row.priority,
    timeout_minutes: amount(row.timeout),
    max_retries: amount(row.retries),
    guardian: row.runtime === 'worker' ? undefined : policyOf(row.guardian),
    repository: row.runtime === 'worker' ? undefined : repositoryOf(row),
  }
  return Object.fromEntries(Object.entries(task).filter(([, value]) => value !== undefined)) as NewTask
}

function amount(typed: string): number | undefined {
  const value = Number(typed.trim())
  return typed.trim() !== '' && Number.isFinite(value) ? value : undefined
}

/** Problems that need no request to the server. The server checks everything else. */
export function check({ rows }: GraphDraft): GraphProblems {
  const found = rows.map((row): [string, RowProblems] => [row.key, checkRow(row, rows)])
  return { rows: new Map(found.filter(([, problems]) => Object.keys(problems).length > 0)) }
}

function checkRow(row: TaskDraft, rows: readonly TaskDraft[]): RowProblems {
  const problems: RowProblems = {}
  const isTwice = rows.some((other) => other.key !== row.key && other.name.trim() === row.name.trim())
  if (row.name.trim() === '') problems.name = 'Enter a name.'
  else if (isTwice) problems.name = 'Another task has this name.'
  if (row.title.trim() === '') problems.title = 'Enter a title.'
  if (row.runtime === 'command') {
    const words = split(row.command)
    if ('problem' in words) problems.command = words.problem
    else if (words.words.length === 0) problems.command = 'Enter a program.'
  }
  if (row.runtime !== 'worker' && row.repository.trim() !== '' && row.credential === '') {
    problems.credential = 'Choose a credential.'
  }
  for (const name of ['timeout', 'retries'] as const) {
    if (row[name].trim() !== '' && amount(row[name]) === undefined) problems[name] = 'Must be a number.'
  }
  return problems
}

/** The fields of the form for the fields of the request. */
const FIELDS: Readonly<Record<string, TaskField>> = {
  name: 'name',
  title: 'title',
  description: 'description',
  runtime: 'runtime',
  model: 'runtime',
  image: 'runtime',
  command: 'command',
  depends_on: 'dependsOn',
  agent_type: 'agentType',
  priority: 'priority',
  timeout_minutes: 'timeout',
  max_retries: 'retries',
  guardian: 'guardian',
  ...REPOSITORY_FIELDS,
}

/** The problem that the server found, at its row and field: `tasks[2].depends_on`. */
export function refused(error: unknown, { rows }: GraphDraft): GraphProblems {
  if (!(error instanceof ApiError)) return { rows: new Map(), whole: sentence(error) }
  const { field, rule } = error.fields
  const [, index, name] = /^tasks\[(\d+)\]\.([\w.]+)/.exec(typeof field === 'string' ? field : '') ?? []
  const row = rows[Number(index)]
  if (index === undefined || name === undefined || row === undefined) return { rows: new Map(), whole: error.message }
  const problem = typeof rule === 'string' ? `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.` : error.message
  // A field that the form does not have is named in the text.
  const [whole = name] = name.split('.')
  const ours = FIELDS[name] ?? FIELDS[whole]
  const problems: RowProblems = ours === undefined ? { title: `${whole}: ${problem}` } : { [ours]: problem }
  return { rows: new Map([[row.key, problems]]) }
}
