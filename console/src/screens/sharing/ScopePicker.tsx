import { PRESETS, presetOf, SCOPE_WORDS, type Scope, toggle } from '~/store/scopes'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import css from './Sharing.module.css'

interface Props {
  readonly chosen: readonly Scope[]
  readonly onChoose: (scopes: readonly Scope[]) => void
}

/** Scopes with descriptions, and common selections. */
export function ScopePicker({ chosen, onChoose }: Props) {
  const preset = presetOf(chosen)
  return (
    <fieldset className={form.set}>
      <legend>Scopes</legend>
      <div className={form.row}>
        {PRESETS.map(({ name, scopes }) => (
          <Button key={name} aria-pressed={preset === name} className={css.preset} onClick={() => onChoose(scopes)}>
            {name}
          </Button>
        ))}
      </div>
      {(Object.keys(SCOPE_WORDS) as Scope[]).map((scope) => (
        <label key={scope} className={form.choice}>
          <input type="checkbox" checked={chosen.includes(scope)} onChange={() => onChoose(toggle(chosen, scope))} />
          <span>
            <code>{scope}</code> <span className={css.quiet}>{SCOPE_WORDS[scope]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** List of scopes. The title of each is its description. */
export function ScopeMarks({ scopes }: { scopes: readonly string[] }) {
  return (
    <span className={css.marks}>
      {scopes.map((scope) => (
        <code key={scope} className={css.mark} title={SCOPE_WORDS[scope as Scope]}>
          {scope}
        </code>
      ))}
    </span>
  )
}
