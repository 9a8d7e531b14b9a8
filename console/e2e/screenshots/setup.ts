import type { TestProject } from 'vitest/node'
import { build } from '../house/setup'

/** A server that looks like one in use: some sandboxes are warm, and there is something to draw of each. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return build(project, { 'pool-size': '4', 'metrics-every-seconds': '2' })
}
