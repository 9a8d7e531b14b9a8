import type { Paste } from '~/store/terminal-input'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { count, plain } from '~/ui/format'
import css from './TerminalPanel.module.css'

const SHOWN_MOST = 8_000

/** The dialogue begins at its last button: whoever pastes mostly means it. React's own way comes before it opens. */
function preferLast(form: HTMLFormElement | null): void {
  form?.querySelector('button:last-of-type')?.setAttribute('autofocus', '')
}

/** What would be pasted, to be looked at first: lines run as they come. */
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
