import { Bot, Box, Sparkles, SquareTerminal } from 'lucide-react'
import type { Runtime } from './draft'
import css from './SpawnScreen.module.css'

const CHOICES: readonly { value: Runtime; icon: typeof Bot; name: string; about: string }[] = [
  { value: 'claude', icon: Sparkles, name: 'Claude', about: 'Claude agent with a task' },
  { value: 'openhands', icon: Bot, name: 'OpenHands', about: 'OpenHands agent with a task' },
  { value: 'command', icon: SquareTerminal, name: 'Command', about: 'Your own program' },
  { value: 'none', icon: Box, name: 'Plain sandbox', about: 'No agent: a terminal and files' },
]

export function Runtimes({ value, onChange }: { value: Runtime; onChange: (value: Runtime) => void }) {
  return (
    <fieldset className={css.runtimes} data-field="runtime">
      <legend>Runtime</legend>
      {CHOICES.map(({ value: each, icon: Icon, name, about }) => (
        <label key={each} className={css.runtime}>
          <input type="radio" name="runtime" checked={value === each} onChange={() => onChange(each)} />
          <Icon size={18} aria-hidden />
          <span>
            <span className={css.runtimeName}>{name}</span>
            <span className={css.note}>{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
