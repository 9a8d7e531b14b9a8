import type { TestProject } from 'vitest/node'
import { build } from '../house/setup'

/** Server that looks used: a warm pool, and usage of each sandbox. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return build(project, { 'pool-size': '4', 'metrics-every-seconds': '2' })
}
