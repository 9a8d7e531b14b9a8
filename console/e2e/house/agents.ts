import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The example agent: calls the model, runs bash, receives messages and asks people. */
const AGENT = readFileSync(
  join(import.meta.dirname, '../../../demo/src/main/resources/dev/vivarium/demo/agent.py'),
  'utf8',
)

/** Request body for an agent that uses the scripted model. */
export function agent(title: string, more: { description?: string; budget_usd?: number; thread_id?: string } = {}) {
  const { description, ...rest } = more
  const command = ['python3', '-c', AGENT]
  return { task: { title, description }, runtime: 'command' as const, command, budget_usd: 1, ...rest }
}

/** Request body for a shell script as an agent. It is fast and uses no model. */
export function script(title: string, lines: string) {
  return { task: { title }, runtime: 'command' as const, command: ['sh', '-c', lines] }
}

/** Shell command with which an agent sends an event. */
export function told(eventType: string, data: object): string {
  const line = JSON.stringify({ type: 'event', event_type: eventType, data })
  return `echo '${line.replaceAll("'", "'\\''")}'`
}
