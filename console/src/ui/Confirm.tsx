import type { ReactNode } from 'react'
import { Button } from './Button'
import { Dialog } from './Dialog'
import form from './form.module.css'

interface Props {
  readonly title: string
  /** Label of the cancel button. */
  readonly keep: string
  readonly confirm: string
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Confirmation before an action that cannot be undone, with its effect. */
export function Confirm({ title, keep, confirm, onConfirm, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form method="dialog" className={form.form}>
        <div>{children}</div>
        <div className={form.choices}>
          <Button type="submit">{keep}</Button>
          <Button type="submit" look="danger" onClick={onConfirm}>
            {confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
