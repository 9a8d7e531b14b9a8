import type { components } from '~/api/schema'
import { NO_REPOSITORY, type RepositoryDraft } from '../git/repository-draft'

export type SpawnBody = components['schemas']['Spawn']
export type SessionBody = components['schemas']['CreateSession']

export const RUNTIMES = ['claude', 'openhands', 'command', 'none'] as const
export type Runtime = (typeof RUNTIMES)[number]

/** Variable of the environment. Drafts and code contain the name of a secret, never its value. */
export interface Variable {
  readonly name: string
  readonly value: string
  readonly isSecret: boolean
}

/** Content of the form as typed, valid or not. */
export interface Draft extends RepositoryDraft {
  readonly runtime: Runtime
  readonly title: string
  readonly description: string
  readonly doneWhen: string
  readonly command: string
  readonly model: string
  readonly timeLimit: string
  readonly budget: string
  /** Empty for the policy of the server. */
  readonly guardian: string
  readonly egress: string
  readonly variables: readonly Variable[]
  readonly cpus: string
  readonly memory: string
  readonly processes: string
  readonly timeout: string
  readonly image: string
  readonly thread: string
  readonly user: string
  readonly resumeFrom: string
}

export const EMPTY: Draft = {
  ...NO_REPOSITORY,
  runtime: 'claude',
  title: '',
  description: '',
  doneWhen: '',
  command: '',
  model: '',
  timeLimit: '',
  budget: '2',
  guardian: '',
  egress: '',
  variables: [],
  cpus: '',
  memory: '',
  processes: '',
  timeout: '',
  image: '',
  thread: '',
  user: '',
  resumeFrom: '',
}

export type Field = keyof Draft

const KEY = 'viv.spawn'

/** The stored draft. The storage may contain anything: unknown fields count as absent. */
export function kept(storage: Storage = localStorage): Draft {
  try {
    const given: unknown = JSON.parse(storage.getItem(KEY) ?? '{}')
    return typeof given === 'object' && given !== null ? readDraft(given as Record<string, unknown>) : EMPTY
  } catch {
    return EMPTY
  }
}

/** Stores a draft for the next time, without secrets. */
export function keep(draft: Draft, storage: Storage = localStorage): void {
  const variables = draft.variables.map((one) => (one.isSecret ? { ...one, value: '' } : one))
  storage.setItem(KEY, JSON.stringify({ ...draft, variables }))
}

export function forget(storage: Storage = localStorage): void {
  storage.removeItem(KEY)
}

function readDraft(given: Record<string, unknown>): Draft {
  const texts = Object.entries(EMPTY).flatMap(([name, standard]) =>
    typeof standard === 'string' && typeof given[name] === 'string' ? [[name, given[name]]] : [],
  )
  const variables = Array.isArray(given.variables) ? given.variables.flatMap(readVariable) : []
  const runtime = RUNTIMES.find((one) => one === given.runtime) ?? EMPTY.runtime
  return { ...EMPTY, ...Object.fromEntries(texts), runtime, variables }
}

function readVariable(given: unknown): Variable[] {
  if (typeof given !== 'object' || given === null) return []
  const { name, value, isSecret } = given as Record<string, unknown>
  if (typeof name !== 'string' || typeof value !== 'string') return []
  return [{ name, value: isSecret === true ? '' : value, isSecret: isSecret === true }]
}
