import type { components } from '~/api/schema'

export type Scope = components['schemas']['Member']['scopes'][number]

/** Description of each scope, in one sentence. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'fs:ro': 'Read files and their changes.',
  'fs:rw': 'Read and write files.',
  'shell:ro': 'Read the timeline and watch terminals.',
  shell: 'Read the timeline and type in terminals.',
  process: 'Message, answer and pause the agent, run commands, and connect to ports.',
  snapshot: 'Take, restore, fork and delete snapshots.',
}

/** Scopes that a scope includes. */
const WEAKER: Partial<Readonly<Record<Scope, Scope>>> = { 'fs:rw': 'fs:ro', shell: 'shell:ro' }

const ORDER = Object.keys(SCOPE_WORDS) as readonly Scope[]

/** Common selections, from the fewest rights to the most. */
export const PRESETS = [
  { name: 'Observer', scopes: ['fs:ro', 'shell:ro'] },
  { name: 'Colleague', scopes: ['fs:rw', 'shell', 'process'] },
  { name: 'All', scopes: ['fs:rw', 'shell', 'process', 'snapshot'] },
] as const satisfies readonly { name: string; scopes: readonly Scope[] }[]

/** Whether the scopes permit `wanted`. */
export function allows(scopes: readonly string[], wanted: Scope): boolean {
  return scopes.some((scope) => scope === wanted || WEAKER[scope as Scope] === wanted)
}

/** Sorted, without scopes that a stronger one includes. */
export function tidy(scopes: Iterable<Scope>): readonly Scope[] {
  const given = new Set(scopes)
  return ORDER.filter(
    (scope) => given.has(scope) && !ORDER.some((other) => given.has(other) && WEAKER[other] === scope),
  )
}

/** Adds or removes a scope. A stronger scope replaces a weaker one. */
export function toggle(scopes: readonly Scope[], scope: Scope): readonly Scope[] {
  if (scopes.includes(scope)) return tidy(scopes.filter((other) => other !== scope))
  const others = scopes.filter((other) => WEAKER[other] !== scope)
  return tidy([...others, scope])
}

export function presetOf(scopes: readonly Scope[]): string | undefined {
  const given = tidy(scopes).join(' ')
  return PRESETS.find((preset) => tidy(preset.scopes).join(' ') === given)?.name
}
