import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'
import { useShortcuts } from '~/keys/shortcuts'
import type { FleetRow } from '~/store/fleet'
import { keepOrder } from '~/store/fleet-view'
import { Button } from '~/ui/Button'
import { FleetLine } from './FleetLine'
import css from './FleetScreen.module.css'

const LINE_PX = 56
const OVERSCAN = 8
const COLUMNS = ['Status', 'Task', 'Doing', 'Active', 'Owner', 'Cost', 'Tools', 'CPU', 'Memory']

interface Props {
  readonly rows: readonly FleetRow[]
  /** What the order was asked for by: another value is a new order, wanted at once. */
  readonly arrangement: string
}

/** The rows do not change places under the pointer or the focus: they say that the order is another, and wait. */
export function FleetTable({ rows, arrangement }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const { shown, isStale, hold, release } = useHeldOrder(rows, arrangement)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
  })
  useLineKeys(scroller)

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices where the pointer and the focus are
    <div className={css.tableBox} onPointerEnter={hold} onPointerLeave={release} onFocus={hold} onBlur={release}>
      {isStale && (
        <div className={css.stale}>
          <Button onClick={release}>The order has changed: sort again</Button>
        </div>
      )}
      <div ref={scroller} className={css.scroller}>
        {/* biome-ignore lint/a11y/useSemanticElements: a virtual list cannot be a table element */}
        <div role="table" aria-label="Sandboxes" aria-rowcount={rows.length + 1}>
          {/* biome-ignore lint/a11y/useSemanticElements: as above */}
          <div role="row" tabIndex={-1} className={`${css.line} ${css.head}`} aria-rowindex={1}>
            {COLUMNS.map((name) => (
              // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: as above
              <div key={name} role="columnheader">
                {name}
              </div>
            ))}
          </div>
          {/* biome-ignore lint/a11y/useSemanticElements: as above */}
          <div role="rowgroup" className={css.lines} style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const row = shown[item.index]
              return row && <FleetLine key={row.sandbox.sandbox_id} row={row} index={item.index} top={item.start} />
            })}
          </div>
        </div>
      </div>
    </div>
  )
}

/** The order stays as it was from `hold` to `release`; what the rows say does not. */
function useHeldOrder(rows: readonly FleetRow[], arrangement: string) {
  const [held, setHeld] = useState<{ order: readonly string[]; arrangement: string }>()
  const order = useMemo(() => rows.map((row) => row.sandbox.sandbox_id), [rows])
  const isHeld = held !== undefined && held.arrangement === arrangement
  const shown = isHeld ? keepOrder(rows, held.order) : rows
  return {
    shown,
    isStale: isHeld && shown.some((row, index) => row.sandbox.sandbox_id !== order[index]),
    hold: () => setHeld((before) => (before?.arrangement === arrangement ? before : { order, arrangement })),
    release: () => setHeld(undefined),
  }
}

/** j and k go from line to line, through links that are focused: Enter opens, and a screen reader reads. */
function useLineKeys(scroller: React.RefObject<HTMLDivElement | null>): void {
  const navigate = useNavigate()
  const list = useMemo(() => {
    const move = (by: number) => {
      const links = [...(scroller.current?.querySelectorAll<HTMLAnchorElement>('a[data-line]') ?? [])]
      const now = links.indexOf(document.activeElement as HTMLAnchorElement)
      const next = now < 0 ? links[0] : links[Math.min(links.length - 1, Math.max(0, now + by))]
      next?.focus()
      next?.scrollIntoView({ block: 'nearest' })
    }
    const open = () => {
      const id = document.activeElement instanceof HTMLAnchorElement ? document.activeElement.dataset.line : undefined
      if (id !== undefined) void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId: id } })
    }
    return [
      { keys: 'j', does: 'Next sandbox', run: () => move(1) },
      { keys: 'k', does: 'Previous sandbox', run: () => move(-1) },
      { keys: 'o', does: 'Open it', run: open },
    ]
  }, [navigate, scroller])
  useShortcuts('Sandboxes', list)
}
