import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import css from './TerminalPanel.module.css'

interface Props {
  /** How many more are in it. */
  readonly others: number
  readonly onClose: () => void
  readonly onEnd: () => void
}

export function EndDialog({ others, onClose, onEnd }: Props) {
  return (
    <Dialog title="End this shell?" onClose={onClose}>
      <p>
        Runtime is killed.
        {others === 1 && ' Somebody else is in it.'}
        {others > 1 && ` ${others} others are in it.`} To leave it running, just go elsewhere.
      </p>
      <form method="dialog" className={css.choices}>
        <Button type="submit">Keep it</Button>
        <Button type="submit" look="danger" onClick={onEnd}>
          End it
        </Button>
      </form>
    </Dialog>
  )
}
