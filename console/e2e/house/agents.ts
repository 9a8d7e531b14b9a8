import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The example of an agent: it asks the model, runs bash, hears messages and asks people. */
const AGENT = readFileSync(
  join(import.meta.dirname, '../../../demo/src/main/resources/dev/vivarium/demo/agent.py'),
  'utf8',
)

/** The body of a request for an agent that asks the scripted model what to do. */
export function agent(title: string, more: { description?: string; budget_usd?: number; thread_id?: string } = {}) {
  const { description, ...rest } = more
  const command = ['python3', '-c', AGENT]
  return { task: { title, description }, runtime: 'command' as const, command, budget_usd: 1, ...rest }
}

/** The body of a request for a shell script as an agent: quick, and it asks no model. */
export function script(title: string, lines: string) {
  return { task: { title }, runtime: 'command' as const, command: ['sh', '-c', lines] }
}

/** A line of shell in which an agent tells an event. */
export function told(eventType: string, data: object): string {
  const line = JSON.stringify({ type: 'event', event_type: eventType, data })
  return `echo '${line.replaceAll("'", "'\\''")}'`
}
