import { MessageCircleQuestion } from 'lucide-react'
import type { ReviewRow } from '~/store/rows'
import { plain } from '~/ui/format'
import { Prose } from '~/ui/Prose'
import { Fold } from './Fold'
import css from './rows.module.css'

const WORDS: Readonly<Record<string, string>> = {
  approve: 'Approved',
  reject: 'Rejected',
  expired: 'Expired without an answer',
}

/** A question with its answer. An open question is shown in full below the timeline, and here in one line. */
export function ReviewPart({ row }: { row: ReviewRow }) {
  if (row.answer !== undefined || row.isCut) return <Question row={row} />
  const line = (
    <>
      <MessageCircleQuestion size={15} aria-hidden className={css.icon} />
      <span className={css.name}>Question</span>
      <span className={css.outcome}>waiting for an answer</span>
    </>
  )
  return (
    <Fold line={line}>
      <Question row={row} />
    </Fold>
  )
}

function Question({ row: { reason, description, answer, isCut } }: { row: ReviewRow }) {
  return (
    <div className={css.review} data-open={(answer === undefined && !isCut) || undefined}>
      <p className={css.by}>
        <MessageCircleQuestion size={15} aria-hidden />
        {plain(reason)}
      </p>
      {description !== '' && <Prose>{description}</Prose>}
      {answer ? (
        <p className={css.aside}>
          {WORDS[answer.decision] ?? plain(answer.decision)}
          {answer.by && ` by ${plain(answer.by)}`}
          {answer.comment && `: ${plain(answer.comment)}`}
        </p>
      ) : (
        isCut && <p className={css.aside}>Cancelled: the run ended</p>
      )}
    </div>
  )
}
