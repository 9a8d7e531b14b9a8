import { Bot, Box, Sparkles, SquareTerminal } from 'lucide-react'
import { CopyButton } from '~/ui/CopyButton'
import type { Runtime } from './draft'
import type { Need } from './ready'
import css from './SpawnScreen.module.css'

const CHOICES: readonly { value: Runtime; icon: typeof Bot; name: string; about: string }[] = [
  { value: 'claude', icon: Sparkles, name: 'Claude', about: 'Claude agent with a task' },
  { value: 'openhands', icon: Bot, name: 'OpenHands', about: 'OpenHands agent with a task' },
  { value: 'command', icon: SquareTerminal, name: 'Command', about: 'Your own program' },
  { value: 'none', icon: Box, name: 'Plain sandbox', about: 'No agent: a terminal and files' },
]

interface Props {
  readonly value: Runtime
  readonly needsOf: (runtime: Runtime) => readonly Need[]
  readonly onChange: (value: Runtime) => void
}

/** The choice of a runtime. A runtime that this server cannot start shows its requirements. */
export function Runtimes({ value, needsOf, onChange }: Props) {
  const unready = CHOICES.filter((choice) => needsOf(choice.value).length > 0)
  const missing = new Map(unready.flatMap((choice) => needsOf(choice.value).map((need) => [need.command, need])))
  return (
    <fieldset className={css.runtimes} data-field="runtime">
      <legend>Runtime</legend>
      {CHOICES.map(({ value: each, icon: Icon, name, about }) => (
        <label key={each} className={css.runtime}>
          <input
            type="radio"
            name="runtime"
            checked={value === each}
            disabled={needsOf(each).length > 0}
            onChange={() => onChange(each)}
          />
          <Icon size={18} aria-hidden />
          <span>
            <span className={css.runtimeName}>{name}</span>
            <span className={css.note}>{about}</span>
          </span>
        </label>
      ))}
      {missing.size > 0 && (
        <div className={css.needs}>
          <p>
            This server is not set up for {unready.map((choice) => choice.name).join(' and ')}. Run on the machine of
            the server:
          </p>
          <dl>
            {[...missing.values()].map(({ text, command }) => (
              <div key={command}>
                <dt>For {text}:</dt>
                <dd>
                  <code>{command}</code>
                  <CopyButton text={command} label="Copy the command" />
                </dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </fieldset>
  )
}
