import { type ReactNode, useId } from 'react'
import css from './Field.module.css'

/** What a control needs so that its label, hint and problem are told with it. */
export interface Control {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

interface Props {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string
  /** For whoever looks for the control of a field: `data-field` is this on what is around it. */
  readonly name?: string
  readonly children: (control: Control) => ReactNode
}

/** A control with its name, what to know about it, and what is wrong with what it holds. */
export function Field({ label, hint, problem, name, children }: Props) {
  const id = useId()
  const described = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className={css.field} data-field={name}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': problem !== undefined, 'aria-describedby': described || undefined })}
      {problem && (
        <p id={`${id}-problem`} className={css.problem}>
          {problem}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className={css.hint}>
          {hint}
        </p>
      )}
    </div>
  )
}
