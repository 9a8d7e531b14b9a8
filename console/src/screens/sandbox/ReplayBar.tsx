import { Pause, Play, Radio, X } from 'lucide-react'
import { type KeyboardEvent, useMemo } from 'react'
import type { EventStore } from '~/store/event-store'
import type { Mark } from '~/store/log-events'
import { type Replay, SPEEDS } from '~/store/replay'
import type { Tape } from '~/store/tape'
import { Button } from '~/ui/Button'
import { moment, span, whole } from '~/ui/format'
import css from './ReplayBar.module.css'

/** Maximum number of distinguishable marks on the line. */
const PLACES = 200
const GRAVITY: readonly Mark[] = ['state', 'intervention', 'review', 'error']
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }
const MANY = 10

interface Props {
  readonly replay: Replay
  readonly events: EventStore
  readonly isAlive: boolean
  readonly hasFailed: boolean
  readonly onRetry: () => void
  readonly onLeave: () => void
}

/** Replay of a run: play, or move the slider. */
export function ReplayBar({ replay, events, isAlive, hasFailed, onRetry, onLeave }: Props) {
  const toggle = () => (replay.isPlaying ? replay.pause() : replay.play(performance.now()))
  return (
    <section className={css.bar} aria-label="Replay">
      <Button look="primary" compact icon={replay.isPlaying ? Pause : Play} onClick={toggle}>
        {replay.isPlaying ? 'Pause the replay' : 'Play'}
      </Button>
      <fieldset className={css.speeds}>
        <legend className="visually-hidden">Speed</legend>
        {SPEEDS.map((speed) => (
          <button
            key={speed}
            type="button"
            className={css.speed}
            aria-pressed={replay.speed === speed}
            onClick={() => replay.setSpeed(speed)}
          >
            {speed}×
          </button>
        ))}
      </fieldset>
      <Line replay={replay} onToggle={toggle} />
      <Button icon={isAlive ? Radio : X} onClick={onLeave}>
        {isAlive ? 'Live' : 'Close'}
      </Button>
      <p className={css.words}>
        <Moment replay={replay} />
        <Cover replay={replay} events={events} hasFailed={hasFailed} onRetry={onRetry} />
      </p>
    </section>
  )
}

function Line({ replay, onToggle }: { replay: Replay; onToggle: () => void }) {
  const { tape, event, index } = replay
  const onKeyDown = (press: KeyboardEvent) => {
    const step = STEPS[press.key]
    if (step !== undefined) replay.step(step * (press.shiftKey ? MANY : 1))
    else if (press.key === 'PageUp' || press.key === 'PageDown') toMark(replay, press.key === 'PageUp' ? 1 : -1)
    else if (press.key === ' ') onToggle()
    else return
    press.preventDefault()
  }
  const words = event && `Event ${whole(event.seq)}, ${moment(event.created_at)}`
  return (
    <div className={css.line}>
      <Marks tape={tape} />
      <input
        type="range"
        min={0}
        max={tape.length || 1}
        step="any"
        value={replay.isPlaying ? replay.place : tape.placeOf(index)}
        aria-label="Moment of the run"
        aria-valuetext={words}
        title="Arrows: by event · Page up and down: by mark · Space: play"
        onChange={(change) => replay.seekPlace(change.target.valueAsNumber)}
        onKeyDown={onKeyDown}
      />
    </div>
  )
}

function toMark(replay: Replay, step: 1 | -1): void {
  const { tape, index } = replay
  const mark = step > 0 ? tape.marks.find((one) => one.index > index) : tape.marks.findLast((one) => one.index < index)
  const target = mark && tape.events[mark.index]
  if (target !== undefined) replay.seek(target.seq)
}

/** Notable events. Of neighbouring events, the most severe is shown. */
function Marks({ tape }: { tape: Tape }) {
  const { marks, length } = tape
  const total = marks.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows without being another
  const places = useMemo(() => {
    const found = new Map<number, Mark>()
    for (const { index, mark } of marks) {
      const place = Math.round((tape.placeOf(index) / (length || 1)) * PLACES)
      const other = found.get(place)
      if (other === undefined || GRAVITY.indexOf(mark) > GRAVITY.indexOf(other)) found.set(place, mark)
    }
    return [...found]
  }, [tape, marks, total, length])
  return (
    <svg className={css.marks} viewBox={`0 0 ${PLACES} 8`} preserveAspectRatio="none" aria-hidden>
      {places.map(([place, mark]) => (
        <rect key={place} className={css.mark} data-mark={mark} x={place - 0.25} y={0} width={0.6} height={8} />
      ))}
    </svg>
  )
}

function Moment({ replay: { event, tape } }: { replay: Replay }) {
  const first = tape.events[0]
  if (event === undefined || first === undefined) return null
  const since = Date.parse(event.created_at) - Date.parse(first.created_at)
  return (
    <span>
      <strong>{moment(event.created_at)}</strong> · event {whole(event.seq)} · {span(since)} in
    </span>
  )
}

/** The range of the slider, and whether events are missing. */
function Cover({ replay, events, hasFailed, onRetry }: Omit<Props, 'isAlive' | 'onLeave'>) {
  const { firstSeq, lastSeq, oldestKept, headSeq } = events
  const have = replay.tape.events.length
  if (hasFailed) {
    return (
      <span className={css.failed} role="alert">
        Older events could not be loaded.{' '}
        <button type="button" className={css.retry} onClick={onRetry}>
          Try again
        </button>
      </span>
    )
  }
  if (events.hasOlder)
    return (
      <span role="status">
        Loading older events: {whole(have)} of {whole(headSeq - oldestKept + 1)}
      </span>
    )
  if (firstSeq > oldestKept)
    return (
      <span>
        Covers the last {whole(have)} of {whole(headSeq - oldestKept + 1)} events
      </span>
    )
  return (
    <span>
      Covers events {whole(firstSeq)} to {whole(lastSeq)}
      {firstSeq > 1 && ', the whole log'}
    </span>
  )
}
