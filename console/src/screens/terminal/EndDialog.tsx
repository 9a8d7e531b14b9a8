import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import css from './TerminalPanel.module.css'

interface Props {
  /** Number of other participants. */
  readonly others: number
  readonly onClose: () => void
  readonly onEnd: () => void
}

export function EndDialog({ others, onClose, onEnd }: Props) {
  return (
    <Dialog title="End this shell?" onClose={onClose}>
      <p>
        The server kills all processes of the shell.
        {others === 1 && ' Another user is connected.'}
        {others > 1 && ` ${others} other users are connected.`} To keep it running, leave this page.
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
