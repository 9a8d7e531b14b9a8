import { type ReactNode, useId } from 'react'
import css from './Section.module.css'

interface Props {
  readonly title: string
  /** One sentence about its purpose. */
  readonly about?: ReactNode
  /** Actions on the whole section. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** Section of a screen with a heading. */
export function Section({ title, about, actions, children }: Props) {
  const id = useId()
  return (
    <section className={css.section} aria-labelledby={id}>
      <header className={css.header}>
        <div className={css.words}>
          <h2 id={id}>{title}</h2>
          {about && <p className={css.about}>{about}</p>}
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  )
}
