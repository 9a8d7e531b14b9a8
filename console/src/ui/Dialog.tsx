import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './Button'
import css from './Dialog.module.css'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Modal dialog. The native element keeps the focus inside, restores it and closes with Escape. */
export function Dialog({ title, onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    ref.current?.showModal()
  }, [])
  return (
    <dialog ref={ref} className={css.dialog} aria-labelledby={titleId} onClose={onClose}>
      <header className={css.header}>
        <h2 id={titleId}>{title}</h2>
        <Button look="quiet" icon={X} compact onClick={() => ref.current?.close()}>
          Close
        </Button>
      </header>
      <div className={css.body}>{children}</div>
    </dialog>
  )
}
