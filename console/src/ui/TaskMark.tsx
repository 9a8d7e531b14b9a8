import {
  CircleArrowRight,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePlay,
  CircleSlash,
  CircleX,
  type LucideIcon,
  OctagonMinus,
  RotateCw,
  TimerOff,
} from 'lucide-react'
import type { TaskAttempt, TaskStatus } from '~/api/types'
import css from './StatusMark.module.css'
import tones from './tones.module.css'

interface Look {
  readonly icon: LucideIcon
  readonly word: string
  readonly tone: 'ok' | 'info' | 'warn' | 'bad' | 'muted'
}

/** Each status of a task and of an attempt as icon, word and colour. */
export const TASK_LOOKS: Readonly<Record<TaskStatus | TaskAttempt['status'] | 'checking', Look>> = {
  pending: { icon: CircleDashed, word: 'Pending', tone: 'muted' },
  ready: { icon: CircleDot, word: 'Ready', tone: 'info' },
  assigned: { icon: CircleArrowRight, word: 'Assigned', tone: 'info' },
  running: { icon: CirclePlay, word: 'Running', tone: 'ok' },
  checking: { icon: CirclePlay, word: 'Checking', tone: 'ok' },
  retrying: { icon: RotateCw, word: 'Retrying', tone: 'warn' },
  blocked: { icon: OctagonMinus, word: 'Blocked', tone: 'warn' },
  completed: { icon: CircleCheck, word: 'Completed', tone: 'muted' },
  failed: { icon: CircleX, word: 'Failed', tone: 'bad' },
  cancelled: { icon: CircleSlash, word: 'Cancelled', tone: 'muted' },
  lapsed: { icon: TimerOff, word: 'Lapsed', tone: 'warn' },
}

export function TaskMark({ status }: { status: keyof typeof TASK_LOOKS }) {
  const { icon: Icon, word, tone } = TASK_LOOKS[status]
  return (
    <span className={`${css.mark} ${tones[tone]}`}>
      <Icon size={15} aria-hidden />
      {word}
    </span>
  )
}
