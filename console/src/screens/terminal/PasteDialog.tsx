import type { Paste } from '~/store/terminal-input'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { count, plain } from '~/ui/format'
import css from './TerminalPanel.module.css'

const SHOWN_MOST = 8_000

/** Focuses the last button, because most pastes are confirmed. React's `autoFocus` runs before the dialog opens. */
function preferLast(form: HTMLFormElement | null): void {
  form?.querySelector('button:last-of-type')?.setAttribute('autofocus', '')
}

/** Preview of a paste, because each line is executed. */
export function PasteDialog({ paste, onClose, onPaste }: { paste: Paste; onClose: () => void; onPaste: () => void }) {
  const { text, lines, removed } = paste
  return (
    <Dialog title={lines === 1 ? 'Paste this line?' : `Paste ${count(lines)} lines?`} onClose={onClose}>
      {text.includes('\n') && <p>The shell may run each line immediately.</p>}
      {removed > 0 && (
        <p className={css.problem}>
          {removed === 1 ? 'One control character was' : `${count(removed)} control characters were`} taken out.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be in reach of the keyboard */}
      <pre className={css.paste} tabIndex={0}>
        {plain(text.slice(0, SHOWN_MOST))}
        {text.length > SHOWN_MOST && `\n… and ${count(text.length - SHOWN_MOST)} characters more`}
      </pre>
      <form method="dialog" className={css.choices} ref={preferLast}>
        <Button type="submit">Do not paste</Button>
        <Button type="submit" look="primary" onClick={onPaste}>
          Paste
        </Button>
      </form>
    </Dialog>
  )
}
