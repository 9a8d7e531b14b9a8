import { Link } from '@tanstack/react-router'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { TaskStatus } from '~/api/types'
import { BOX, draw, type Edge, type Knot, type Point, pathOf } from '~/store/layers'
import { Button } from '~/ui/Button'
import { plain } from '~/ui/format'
import { TASK_LOOKS } from '~/ui/TaskMark'
import css from './GraphPicture.module.css'

/** A task in a picture. */
export interface Drawn extends Knot {
  readonly title: string
  /** Absent for a task that is not added yet. */
  readonly status?: TaskStatus
  /** A few words beside the status. */
  readonly note?: string
  /** A filter does not include it. */
  readonly isDimmed?: boolean
  /** The page is about it. */
  readonly isCurrent?: boolean
}

interface Props {
  readonly tasks: readonly Drawn[]
  readonly label: string
  /** Each task is a link to its page. */
  readonly isLinked?: boolean
}

const MARGIN = 8
const ICON = 16

/** Tasks and their dependencies, from left to right. Only a change of the dependencies moves the boxes. */
export function GraphPicture({ tasks, label, isLinked = false }: Props) {
  const [isFit, setFit] = useState(false)
  const scroller = useRef<HTMLElement>(null)
  const shape = JSON.stringify(tasks.map(({ id, dependsOn }) => [id, dependsOn]))
  const picture = useMemo(() => draw(knotsOf(shape)), [shape])
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const inOrder = [...picture.boxes].sort(([, a], [, b]) => a.x - b.x || a.y - b.y)
  const width = picture.width + 2 * MARGIN
  const height = picture.height + 2 * MARGIN
  const isWide = useIsWider(scroller, width)
  return (
    <figure className={css.figure}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached with the keyboard */}
      <section ref={scroller} className={css.scroller} data-fit={isFit || undefined} tabIndex={0} aria-label={label}>
        <svg
          className={css.picture}
          viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
          width={width}
          height={height}
          role={isLinked ? 'group' : 'img'}
          aria-label={isLinked ? 'Graph' : inWords(tasks)}
        >
          {picture.edges.map((edge) => (
            <Line key={`${edge.from} ${edge.to}`} edge={edge} from={byId.get(edge.from)} to={byId.get(edge.to)} />
          ))}
          {inOrder.map(([id, at]) => {
            const task = byId.get(id)
            return task && <Box key={id} task={task} at={at} isLinked={isLinked} />
          })}
        </svg>
      </section>
      {isWide && (
        <Button look="quiet" aria-pressed={isFit} className={css.fit} onClick={() => setFit(!isFit)}>
          Fit to the width
        </Button>
      )}
    </figure>
  )
}

/** Whether a width is larger than an element. */
function useIsWider(box: RefObject<HTMLElement | null>, width: number): boolean {
  const [room, setRoom] = useState(Number.POSITIVE_INFINITY)
  useEffect(() => {
    if (box.current === null) return
    const observer = new ResizeObserver(([entry]) => setRoom(entry?.contentRect.width ?? 0))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [box])
  return width > room
}

function knotsOf(shape: string): Knot[] {
  return (JSON.parse(shape) as [string, string[]][]).map(([id, dependsOn]) => ({ id, dependsOn }))
}

/** The graph as a text, where it is one image. */
function inWords(tasks: readonly Drawn[]): string {
  const titles = new Map(tasks.map((task) => [task.id, plain(task.title)]))
  const lines = tasks.map(({ title, dependsOn }) => {
    const names = dependsOn.flatMap((id) => titles.get(id) ?? [])
    return names.length === 0 ? plain(title) : `${plain(title)}, after ${names.join(' and ')}`
  })
  return lines.join('; ')
}

/** A dependency that is completed, or one that cannot complete, has a line of its own kind. */
function Line({ edge, from, to }: { edge: Edge; from: Drawn | undefined; to: Drawn | undefined }) {
  const { status } = from ?? {}
  const isLost = status === 'failed' || status === 'cancelled' || status === 'blocked'
  const kind = edge.isBack ? 'cycle' : isLost ? 'lost' : status === 'completed' ? 'done' : 'open'
  return (
    <path
      className={css.line}
      data-kind={kind}
      data-dimmed={from?.isDimmed || to?.isDimmed || undefined}
      d={`${pathOf(edge.points)} ${headOf(edge.points)}`}
    />
  )
}

/** The head of an arrow at the end of a line. */
function headOf(points: readonly Point[]): string {
  const { x, y } = points.at(-1) ?? { x: 0, y: 0 }
  return `M${x - 6} ${y - 4} L${x} ${y} L${x - 6} ${y + 4}`
}

function Box({ task, at, isLinked }: { task: Drawn; at: Point; isLinked: boolean }) {
  const look = task.status && TASK_LOOKS[task.status]
  const under = [look?.word, task.note].filter(Boolean).join(' · ')
  const left = look ? 34 : 12
  const inside = (
    <g
      transform={`translate(${at.x} ${at.y})`}
      className={css.box}
      data-tone={look?.tone}
      data-status={task.status}
      data-dimmed={task.isDimmed || undefined}
      data-current={task.isCurrent || undefined}
    >
      <rect width={BOX.width} height={BOX.height} rx={8} />
      {look && <look.icon x={10} y={(BOX.height - ICON) / 2} width={ICON} height={ICON} aria-hidden />}
      <foreignObject x={left} width={BOX.width - left - 8} height={BOX.height}>
        <div className={css.text} title={`${plain(task.title)}, ${plain(under)}`}>
          <span className={css.title}>{plain(task.title)}</span> <span className={css.under}>{plain(under)}</span>
        </div>
      </foreignObject>
    </g>
  )
  if (!isLinked) return inside
  return (
    <Link
      to="/console/tasks/$taskId"
      params={{ taskId: task.id }}
      className={css.link}
      aria-current={task.isCurrent ? 'page' : undefined}
    >
      {inside}
    </Link>
  )
}
