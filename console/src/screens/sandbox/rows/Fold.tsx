import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import css from './rows.module.css'

interface Props {
  /** One line that says it all to whoever does not open it. */
  readonly line: ReactNode
  readonly startsOpen?: boolean
  readonly children: ReactNode
}

/** A line that opens in place. What is inside is drawn when it is opened. */
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
