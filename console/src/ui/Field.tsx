import { type ReactNode, useId } from 'react'
import css from './Field.module.css'

/** Attributes that connect a control with its label, hint and problem. */
export interface Control {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

interface Props {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string
  /** Sets `data-field` on the container, so that the control of a field can be found. */
  readonly name?: string
  readonly children: (control: Control) => ReactNode
}

/** Control with label, hint and problem. */
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
