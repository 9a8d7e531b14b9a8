import { Plus, X } from 'lucide-react'
import { Button } from '~/ui/Button'
import type { Variable } from './draft'
import css from './SpawnScreen.module.css'

interface Props {
  readonly variables: readonly Variable[]
  readonly problem: string | undefined
  readonly onChange: (variables: readonly Variable[]) => void
}

const BLANK: Variable = { name: '', value: '', isSecret: true }

/** Variables of the environment. A secret variable is not stored or shown, but the agent can read it. */
export function Variables({ variables, problem, onChange }: Props) {
  const change = (at: number, part: Partial<Variable>) =>
    onChange(variables.map((one, index) => (index === at ? { ...one, ...part } : one)))
  return (
    <fieldset className={css.variables} data-field="variables" aria-describedby="variables-hint">
      <legend>Environment</legend>
      {variables.map((one, index) => (
        <div key={index} className={css.variable}>
          <input
            value={one.name}
            placeholder="NAME"
            spellCheck={false}
            aria-label={`Name of variable ${index + 1}`}
            aria-invalid={problem !== undefined}
            onChange={(event) => change(index, { name: event.target.value })}
          />
          <input
            value={one.value}
            type={one.isSecret ? 'password' : 'text'}
            autoComplete="off"
            placeholder="value"
            aria-label={`Value of variable ${index + 1}`}
            onChange={(event) => change(index, { value: event.target.value })}
          />
          <label className={css.secret}>
            <input
              type="checkbox"
              checked={one.isSecret}
              onChange={(event) => change(index, { isSecret: event.target.checked })}
            />
            Secret
          </label>
          <Button
            look="quiet"
            compact
            icon={X}
            title={`Remove variable ${index + 1}`}
            onClick={() => onChange(variables.filter((_, other) => other !== index))}
          >
            {`Remove variable ${index + 1}`}
          </Button>
        </div>
      ))}
      {problem && <p className={css.problem}>{problem}</p>}
      <div>
        <Button icon={Plus} onClick={() => onChange([...variables, BLANK])}>
          Add a variable
        </Button>
      </div>
      <p id="variables-hint" className={css.note}>
        All programs in the sandbox can read these variables. The page does not store a secret, and the code beside this
        form reads it from your environment.
      </p>
    </fieldset>
  )
}
