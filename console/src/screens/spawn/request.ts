import { policyOf } from '~/store/policies'
import { REPOSITORY_FIELDS, repositoryOf } from '../git/repository-draft'
import type { Draft, Field, SessionBody, SpawnBody, Variable } from './draft'
import { split } from './words'

/** The request to the server, shared by the form and all code forms. */
export type Wanted =
  | { readonly path: '/api/v1/sandboxes'; readonly body: SpawnBody; readonly secrets: readonly string[] }
  | { readonly path: '/create_session'; readonly body: SessionBody; readonly secrets: readonly string[] }

/** Problems by field, one sentence each. */
export type Problems = Partial<Record<Field, string>>

/** The request of a draft. Invalid numbers are omitted; `check` reports them. */
export function wanted(draft: Draft, me: string): Wanted {
  const secrets = named(draft.variables).flatMap((one) => (one.isSecret ? [one.name.trim()] : []))
  const shared = {
    thread_id: draft.thread.trim() || undefined,
    user_id: draft.user.trim() || undefined,
    image: draft.image.trim() || undefined,
    timeout_minutes: amount(draft.timeout),
    on_idle: 'hibernate' as const,
    limits: some({
      cpus: amount(draft.cpus),
      memory_mb: amount(draft.memory),
      processes: amount(draft.processes),
    }),
    env: some(Object.fromEntries(named(draft.variables).map((one) => [one.name.trim(), one.value]))),
    egress: hosts(draft).length === 0 ? undefined : { allow: hosts(draft) },
  }
  if (draft.runtime === 'none') {
    // A session of the admin must name the owner; a run belongs to the caller.
    const body = given({ ...shared, thread_id: draft.thread.trim(), user_id: draft.user.trim() || me })
    return { path: '/create_session', body, secrets }
  }
  const command = split(draft.command)
  const body = given({
    task: task(draft),
    runtime: draft.runtime,
    command: draft.runtime === 'command' ? ('words' in command ? [...command.words] : []) : undefined,
    model: draft.model.trim() || undefined,
    budget_usd: amount(draft.budget),
    guardian: policyOf(draft.guardian),
    repository: repositoryOf(draft),
    resume_from: draft.resumeFrom.trim() || undefined,
    ...shared,
  })
  return { path: '/api/v1/sandboxes', body, secrets }
}

function task(draft: Draft): NonNullable<SpawnBody['task']> {
  // Without a credential, the agent itself clones the repository.
  const address = isClonedByServer(draft) ? '' : draft.repository.trim()
  return given({
    title: draft.title.trim(),
    description: draft.description.trim() || undefined,
    // The context is part of the agent's instructions, one line for each entry.
    context: some({
      repository: address || undefined,
      revision: (address && draft.revision.trim()) || undefined,
      done_when: draft.doneWhen.trim() || undefined,
    }),
    constraints: some({ time_limit_minutes: amount(draft.timeLimit) }),
  })
}

/** Whether the server clones the repository before the agent starts. */
export function isClonedByServer(draft: Draft): boolean {
  return draft.runtime !== 'none' && draft.credential !== ''
}

/** Allowed hosts: those of the form, and the host of the repository. */
export function hosts(draft: Draft): string[] {
  const listed = draft.egress.split(/[\s,]+/).filter(Boolean)
  const own = draft.runtime === 'none' || isClonedByServer(draft) ? undefined : repositoryHost(draft.repository)
  return [...new Set(own === undefined ? listed : [...listed, own])]
}

/** Host of an address that git can fetch through the proxy: https or http. */
export function repositoryHost(repository: string): string | undefined {
  try {
    const url = new URL(repository.trim())
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : undefined
  } catch {
    return undefined
  }
}

/** Client-side validation. The server validates everything again. */
export function check(draft: Draft): Problems {
  const problems: Problems = {}
  const isRun = draft.runtime !== 'none'
  if (isRun && draft.title.trim() === '') problems.title = 'Enter a title for the task.'
  if (!isRun && draft.thread.trim() === '') problems.thread = 'Enter the thread of the sandbox.'
  if (draft.runtime === 'command') problems.command = commandProblem(draft.command)
  if (isRun && draft.repository.trim() !== '') problems.repository = repositoryProblem(draft.repository)
  for (const name of ['budget', 'timeLimit', 'cpus', 'memory', 'processes', 'timeout'] as const) {
    const isAsked = isRun || (name !== 'budget' && name !== 'timeLimit')
    if (isAsked && draft[name].trim() !== '' && amount(draft[name]) === undefined) {
      problems[name] = 'Must be a number above 0.'
    }
  }
  problems.variables = variablesProblem(draft.variables)
  return given(problems)
}

function commandProblem(line: string): string | undefined {
  const command = split(line)
  if ('problem' in command) return command.problem
  return command.words.length === 0 ? 'Enter a program.' : undefined
}

function repositoryProblem(repository: string): string | undefined {
  if (repositoryHost(repository) === undefined) return 'Must be an address that begins with https://.'
  const { username, password } = new URL(repository.trim())
  return username || password
    ? 'Must not have a password, because the log contains the task. Use a secret variable.'
    : undefined
}

function variablesProblem(variables: readonly Variable[]): string | undefined {
  const names = named(variables).map((one) => one.name.trim())
  if (variables.some((one) => one.name.trim() === '' && one.value !== '')) return 'Every variable needs a name.'
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? undefined : `${twice} occurs twice.`
}

/** Maps a field of the request to a field of the form. */
export function fieldOf(name: string): Field | undefined {
  const exact = FIELDS[name]
  if (exact !== undefined) return exact
  if (name.startsWith('env')) return 'variables'
  if (name.startsWith('egress') || name.startsWith('allow')) return 'egress'
  return name.startsWith('task') ? 'description' : undefined
}

const FIELDS: Readonly<Record<string, Field>> = {
  ...REPOSITORY_FIELDS,
  runtime: 'runtime',
  title: 'title',
  'task.title': 'title',
  task: 'title',
  description: 'description',
  'task.description': 'description',
  'task.context': 'doneWhen',
  'task.constraints': 'timeLimit',
  'task.constraints.time_limit_minutes': 'timeLimit',
  command: 'command',
  model: 'model',
  budget_usd: 'budget',
  guardian: 'guardian',
  'limits.cpus': 'cpus',
  cpus: 'cpus',
  'limits.memory_mb': 'memory',
  memory_mb: 'memory',
  memory: 'memory',
  'limits.processes': 'processes',
  processes: 'processes',
  timeout_minutes: 'timeout',
  image: 'image',
  thread_id: 'thread',
  user_id: 'user',
  resume_from: 'resumeFrom',
}

function named(variables: readonly Variable[]): readonly Variable[] {
  return variables.filter((one) => one.name.trim() !== '')
}

function amount(typed: string): number | undefined {
  const value = Number(typed.trim())
  return typed.trim() !== '' && Number.isFinite(value) && value > 0 ? value : undefined
}

/** The object without undefined values; undefined if it is empty. */
function some<T extends object>(object: T): T | undefined {
  const left = given(object)
  return Object.keys(left).length === 0 ? undefined : left
}

function given<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
}
