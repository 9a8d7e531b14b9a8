import { Link } from '@tanstack/react-router'
import { CopyButton } from '~/ui/CopyButton'
import { Empty } from '~/ui/States'
import css from './FleetScreen.module.css'

const BODY = `{"runtime": "command", "task": {"title": "Say hello"}, "command": ["echo", "hello"]}`

const COMMANDS = [
  ['Show a complete run, without a key or a network', 'viv demo'],
  ['Start an agent', 'viv run "Fix the failing test" --budget 2'],
  ['Open a terminal in your own sandbox', 'viv shell my-thread'],
  ['Use the API', `curl -H "Authorization: Bearer $VIV_API_KEY" --json '${BODY}' ${location.origin}/api/v1/sandboxes`],
] as const

/** What to do on a server that has nothing yet. */
export function FirstSteps() {
  return (
    <Empty title="No sandbox yet">
      <p>
        <Link to="/console/spawn">Start one here</Link>, or from a terminal:
      </p>
      <ul className={css.steps}>
        {COMMANDS.map(([what, command]) => (
          <li key={command}>
            {what}
            <div className={css.step}>
              <code>{command}</code>
              <CopyButton text={command} />
            </div>
          </li>
        ))}
      </ul>
    </Empty>
  )
}
