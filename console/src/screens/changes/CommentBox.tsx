import { Signpost } from 'lucide-react'
import { type KeyboardEvent, useId } from 'react'
import { sentence } from '~/api/problem'
import { Button } from '~/ui/Button'
import { plain } from '~/ui/format'
import { useWords } from '~/ui/use-words'
import type { Actions } from '../sandbox/use-actions'
import css from './DiffPane.module.css'

interface Props {
  readonly sandboxId: string
  readonly path: string
  readonly line: number
  readonly onLine: (line: number) => void
  readonly actions: Actions
  readonly onClose: () => void
}

/** Comment for the agent on a line. The diff stays visible while the user writes, and a refused text is kept. */
export function CommentBox({ sandboxId, path, line, onLine, actions, onClose }: Props) {
  const [words, setWords] = useWords(`comment:${sandboxId}/${path}`)
  const numberId = useId()
  const { mutate, isPending, error } = actions.say
  const send = () => {
    const content = words.trim()
    if (content !== '' && !isPending)
      mutate({ content: `${path}:${line}: ${content}`, type: 'guidance' }, { onSuccess: close })
  }
  const close = () => {
    setWords('')
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
    else return
    event.preventDefault()
  }
  return (
    <form className={css.comment} onSubmit={(event) => event.preventDefault()}>
      <div className={css.where}>
        <code>{plain(path)}:</code>
        <label htmlFor={numberId} className="visually-hidden">
          Line
        </label>
        <input
          id={numberId}
          type="number"
          min={1}
          className={css.number}
          value={line}
          onChange={(event) => event.target.valueAsNumber > 0 && onLine(event.target.valueAsNumber)}
        />
      </div>
      <textarea
        className={css.words}
        rows={2}
        // biome-ignore lint/a11y/noAutofocus: it was asked for, and nothing else is new
        autoFocus
        value={words}
        aria-label={`Comment on line ${line}`}
        placeholder="Comment for the agent"
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {error && (
        <p role="alert" className={css.problem}>
          {sentence(error)}
        </p>
      )}
      <div className={css.choices}>
        <span className={css.effect}>The agent reads it before its next tool call.</span>
        <Button onClick={close}>Cancel</Button>
        <Button
          look="primary"
          icon={Signpost}
          disabled={isPending || words.trim() === ''}
          title="Ctrl Enter"
          onClick={send}
        >
          Guide
        </Button>
      </div>
    </form>
  )
}
