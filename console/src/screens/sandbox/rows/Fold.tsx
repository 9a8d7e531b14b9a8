import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import css from './rows.module.css'

interface Props {
  /** Summary line of the closed row. */
  readonly line: ReactNode
  readonly startsOpen?: boolean
  readonly children: ReactNode
}

/** Row that expands in place. Its content is rendered when it is opened. */
export function Fold({ line, startsOpen = false, children }: Props) {
  const [isOpen, setOpen] = useState(startsOpen)
  return (
    <>
      <button type="button" className={css.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={15} className={css.chevron} aria-hidden />
        {line}
      </button>
      {isOpen && <div className={css.inside}>{children}</div>}
    </>
  )
}
