import { useVirtualizer } from '@tanstack/react-virtual'
import { MessageSquarePlus } from 'lucide-react'
import { memo, useEffect, useMemo, useRef } from 'react'
import { type DiffLine, type Hunk, type Pair, pairs } from '~/store/diff'
import { plain } from '~/ui/format'
import css from './DiffView.module.css'
import type { HunkCursor } from './use-change-keys'

const ROW_PX = 21
const SIGNS = { same: ' ', plus: '+', minus: '−' } as const

type Row =
  | { readonly kind: 'header'; readonly text: string; readonly hunk: number }
  | { readonly kind: 'pair'; readonly pair: Pair }
  | { readonly kind: 'line'; readonly line: DiffLine }

interface Props {
  readonly hunks: readonly Hunk[]
  readonly isSplit: boolean
  readonly hunk: HunkCursor
  /** The commented line, numbered after the change. */
  readonly commented: number | undefined
  readonly onLine: ((line: number) => void) | undefined
}

/** Diff in one column or two. Renders only the visible rows. */
export const DiffView = memo(function DiffView({ hunks, isSplit, hunk, commented, onLine }: Props) {
  const rows = useMemo(() => rowsOf(hunks, isSplit), [hunks, isSplit])
  const scroller = useRef<HTMLElement>(null)
  const list = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 30,
  })
  const { index, moves } = hunk
  useEffect(() => hunk.tell(hunks.length), [hunk, hunks])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move counts, also one to the same place
  useEffect(() => {
    const at = rows.findIndex((row) => row.kind === 'header' && row.hunk === index)
    if (at > 0 || moves > 0) list.scrollToIndex(Math.max(0, at), { align: 'start' })
  }, [index, moves])
  return (
    <section
      ref={scroller}
      className={css.diff}
      aria-label="Difference"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
      tabIndex={0}
    >
      <div className={css.rows} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index]
          return (
            row && (
              <div
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                className={css.item}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row.kind === 'header' ? (
                  <div className={css.header} data-current={row.hunk === index || undefined}>
                    {row.text}
                  </div>
                ) : row.kind === 'line' ? (
                  <One line={row.line} commented={commented} onLine={onLine} />
                ) : (
                  <div className={css.pair}>
                    <Side line={row.pair.left} number={row.pair.left?.before} />
                    <Side line={row.pair.right} number={row.pair.right?.after} commented={commented} onLine={onLine} />
                  </div>
                )}
              </div>
            )
          )
        })}
      </div>
    </section>
  )
})

interface LineProps {
  readonly commented?: number | undefined
  readonly onLine?: ((line: number) => void) | undefined
}

function One({ line, commented, onLine }: LineProps & { line: DiffLine }) {
  const isSpokenOf = line.after !== undefined && line.after === commented
  return (
    <div className={css.line} data-kind={line.kind} data-commented={isSpokenOf || undefined}>
      <span className={css.number}>{line.before}</span>
      <span className={css.number}>{line.after}</span>
      <Comment line={line.after} onLine={onLine} />
      <Words line={line} />
    </div>
  )
}

function Side({
  line,
  number,
  commented,
  onLine,
}: LineProps & { line: DiffLine | undefined; number: number | undefined }) {
  if (line === undefined) return <div className={css.line} data-kind="none" />
  const isSpokenOf = onLine !== undefined && number === commented
  return (
    <div className={css.line} data-kind={line.kind} data-commented={isSpokenOf || undefined}>
      <span className={css.number}>{number}</span>
      <Comment line={number} onLine={onLine} />
      <Words line={line} />
    </div>
  )
}

/** For the mouse. Keyboard users press `c` and choose the line in the box. */
function Comment({ line, onLine }: { line: number | undefined; onLine: ((line: number) => void) | undefined }) {
  if (onLine === undefined || line === undefined) return <span className={css.gap} />
  return (
    <button
      type="button"
      tabIndex={-1}
      className={css.speak}
      onClick={() => onLine(line)}
      aria-label={`Comment on line ${line}`}
    >
      <MessageSquarePlus size={13} aria-hidden />
    </button>
  )
}

function Words({ line }: { line: DiffLine }) {
  const [start, end] = line.differs ?? [0, 0]
  return (
    <code className={css.words}>
      <span className={css.sign}>{SIGNS[line.kind]}</span>
      {plain(line.text.slice(0, start))}
      {end > start && <mark>{plain(line.text.slice(start, end))}</mark>}
      {plain(line.text.slice(Math.max(start, end)))}
    </code>
  )
}

function rowsOf(hunks: readonly Hunk[], isSplit: boolean): readonly Row[] {
  return hunks.flatMap((hunk, index): Row[] => [
    { kind: 'header', text: hunk.header, hunk: index },
    ...(isSplit
      ? pairs(hunk.lines).map((pair): Row => ({ kind: 'pair', pair }))
      : hunk.lines.map((line): Row => ({ kind: 'line', line }))),
  ])
}
