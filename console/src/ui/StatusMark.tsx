import {
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePause,
  CirclePlay,
  CircleSlash,
  CircleX,
  type LucideIcon,
  Moon,
} from 'lucide-react'
import type { Status } from '~/api/types'
import css from './StatusMark.module.css'
import tones from './tones.module.css'

const LOOKS: Record<Status | 'idle', { icon: LucideIcon; word: string; tone: string }> = {
  creating: { icon: CircleDashed, word: 'Creating', tone: 'info' },
  idle: { icon: CircleDot, word: 'Idle', tone: 'muted' },
  running: { icon: CirclePlay, word: 'Running', tone: 'ok' },
  paused: { icon: CirclePause, word: 'Paused', tone: 'warn' },
  hibernated: { icon: Moon, word: 'Hibernated', tone: 'muted' },
  completed: { icon: CircleCheck, word: 'Completed', tone: 'muted' },
  failed: { icon: CircleX, word: 'Failed', tone: 'bad' },
  terminated: { icon: CircleSlash, word: 'Ended', tone: 'muted' },
}

/** Status as icon, word and colour, never as colour alone. */
export function StatusMark({ status, title }: { status: Status | 'idle'; title?: string }) {
  const { icon: Icon, word, tone } = LOOKS[status]
  return (
    <span className={`${css.mark} ${tones[tone]}`} title={title}>
      <Icon size={15} aria-hidden />
      {word}
    </span>
  )
}
