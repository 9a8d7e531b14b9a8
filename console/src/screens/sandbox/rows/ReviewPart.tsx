import { MessageCircleQuestion } from 'lucide-react'
import type { ReviewRow } from '~/store/rows'
import { plain } from '~/ui/format'
import css from './rows.module.css'

const WORDS: Readonly<Record<string, string>> = {
  approve: 'Approved',
  reject: 'Rejected',
  expired: 'Expired without an answer',
}

export function ReviewPart({ row }: { row: ReviewRow }) {
  return (
    <div className={css.review} data-open={row.answer === undefined || undefined}>
      <p className={css.by}>
        <MessageCircleQuestion size={15} aria-hidden />
        {plain(row.reason)}
      </p>
      <p>{plain(row.description)}</p>
      {row.answer && (
        <p className={css.aside}>
          {WORDS[row.answer.decision] ?? plain(row.answer.decision)}
          {row.answer.by && ` by ${plain(row.answer.by)}`}
          {row.answer.comment && `: ${plain(row.answer.comment)}`}
        </p>
      )}
    </div>
  )
}
