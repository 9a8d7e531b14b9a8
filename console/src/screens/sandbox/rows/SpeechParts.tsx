import { Check, Clock, Hand, MessageSquare, Shield, Signpost, Sparkles } from 'lucide-react'
import type { MessageRow, SaidRow, ThinkingRow, Tone } from '~/store/rows'
import { plain, took } from '~/ui/format'
import { Prose } from '~/ui/Prose'
import { Fold } from './Fold'
import css from './rows.module.css'

export function MessagePart({ row }: { row: MessageRow }) {
  return (
    <div className={css.message}>
      <Prose>{row.text}</Prose>
    </div>
  )
}

export function ThinkingPart({ row }: { row: ThinkingRow }) {
  const line = (
    <span className={css.thinking}>
      <Sparkles size={14} aria-hidden />
      <span className={css.cut}>{plain(row.text.trimStart().split('\n', 1)[0] ?? '')}</span>
    </span>
  )
  return (
    <Fold line={line}>
      <p className={css.thought}>{plain(row.text)}</p>
    </Fold>
  )
}

const TONES: Record<Tone, { icon: typeof Hand; word: string }> = {
  message: { icon: MessageSquare, word: 'Message' },
  guidance: { icon: Signpost, word: 'Guidance' },
  interrupt: { icon: Hand, word: 'Interrupt' },
  guardian: { icon: Shield, word: 'Guardian' },
  system: { icon: Shield, word: 'System' },
}

/** Parts of the server that send messages. */
const SYSTEM = { guardian: 'Message of the guardian', conductor: 'Message of the conductor' } as const

export function SaidPart({ row }: { row: SaidRow }) {
  const { icon: Icon, word } = TONES[row.tone]
  return (
    <div className={css.said} data-tone={row.tone}>
      <p className={css.by}>
        <Icon size={14} aria-hidden />
        {row.by === 'guardian' || row.by === 'conductor' ? SYSTEM[row.by] : `${word} by ${plain(row.by)}`}
        <span className={css.heard}>
          {row.heard ? <Check size={13} aria-hidden /> : <Clock size={13} aria-hidden />}
          {row.heard
            ? `delivered${row.heard.latencyMs === undefined ? '' : ` after ${took(row.heard.latencyMs)}`}`
            : row.isCut
              ? 'not delivered'
              : 'waiting'}
        </span>
      </p>
      <Prose>{row.text}</Prose>
    </div>
  )
}
