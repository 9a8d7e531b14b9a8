import { useId } from 'react'
import { CopyButton } from './CopyButton'
import css from './Secret.module.css'

/** Text to copy: a key, a token or a command. A click selects all of it. */
export function Secret({ label, text }: { label: string; text: string }) {
  const id = useId()
  return (
    <div className={css.secret}>
      <label htmlFor={id} className={css.label}>
        {label}
      </label>
      <textarea
        id={id}
        className={css.text}
        readOnly
        rows={Math.min(6, Math.ceil(text.length / 52))}
        value={text}
        spellCheck={false}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton text={text} label={`Copy the ${label.toLowerCase()}`} />
    </div>
  )
}
