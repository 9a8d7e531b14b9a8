/** How far the guardian may go. Each policy includes the ones before it. */
export const POLICIES = ['off', 'watch', 'steer', 'stop'] as const
export type Policy = (typeof POLICIES)[number]

/** The choices of a form. The empty one leaves it to the server. */
export const POLICY_CHOICES: readonly (readonly [Policy | '', string])[] = [
  ['', 'Policy of the server'],
  ['off', 'Off'],
  ['watch', 'Watch: only events'],
  ['steer', 'Steer: message the agent, then pause and ask'],
  ['stop', 'Stop: as steer, then stop the run'],
]

/** The policy with this name, if there is one. */
export function policyOf(name: string): Policy | undefined {
  return POLICIES.find((one) => one === name)
}
