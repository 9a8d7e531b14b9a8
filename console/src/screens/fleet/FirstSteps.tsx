import { Empty } from '~/ui/States'
import css from './FleetScreen.module.css'

const COMMANDS = [
  ['See a whole run, without a key or a network', 'viv demo'],
  ['Start an agent at a task', 'viv run "Fix the failing test" --budget 2'],
  ['Open a terminal in a sandbox of your own', 'viv shell my-thread'],
] as const

/** What to do on a server that has nothing yet. */
export function FirstSteps() {
  return (
    <Empty title="No sandbox yet">
      <ul className={css.steps}>
        {COMMANDS.map(([what, command]) => (
          <li key={command}>
            {what}
            <code>{command}</code>
          </li>
        ))}
      </ul>
    </Empty>
  )
}
