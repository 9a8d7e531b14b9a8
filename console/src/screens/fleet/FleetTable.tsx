import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useMemo, useRef, useState } from 'react'
import type { FleetRow } from '~/store/fleet'
import { keepOrder } from '~/store/fleet-view'
import { allOrNone, applicable, chosen, type Selection, toggled } from '~/store/selection'
import { Button } from '~/ui/Button'
import { BulkBar } from './BulkBar'
import { FleetLine } from './FleetLine'
import css from './FleetScreen.module.css'
import { useBulk } from './use-bulk'
import { useLineKeys } from './use-line-keys'

const LINE_PX = 56
const OVERSCAN = 8
const COLUMNS = ['Status', 'Task', 'Doing', 'Active', 'Age', 'Owner', 'Cost', 'Tools', 'CPU', 'Memory']

interface Props {
  readonly rows: readonly FleetRow[]
  /** Key of the sort order: another value applies a new order at once. */
  readonly arrangement: string
}

/** Rows keep their order below the pointer or the focus. A note offers the new order. */
export function FleetTable({ rows, arrangement }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const { shown, isStale, hold, release } = useHeldOrder(rows, arrangement)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
  })
  const bulk = useBulk()
  const [selection, setSelection] = useState<Selection>(new Set())
  const selected = useMemo(() => chosen(selection, rows), [selection, rows])
  const clear = () => setSelection(new Set())
  const select = useCallback((id: string) => setSelection((before) => toggled(before, id)), [])
  useLineKeys(scroller, {
    select,
    clear,
    pause: (id) => {
      const row = rows.filter((one) => one.sandbox.sandbox_id === id)
      const action = applicable('resume', row).length > 0 ? 'resume' : 'pause'
      void bulk.run(action, applicable(action, row))
    },
  })

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices where the pointer and the focus are
    <div
      className={css.tableBox}
      data-pane
      onPointerEnter={() => hold('pointer')}
      onPointerLeave={() => release('pointer')}
      onFocus={() => hold('focus')}
      onBlur={(event) => {
        // The pointer stays inside while it moves from row to row.
        if (!event.currentTarget.contains(event.relatedTarget)) release('focus')
      }}
    >
      {isStale && (
        <div className={css.stale}>
          <Button onClick={() => release()}>The order has changed. Sort again</Button>
        </div>
      )}
      <BulkBar rows={selected} bulk={bulk} onClear={clear} />
      <div ref={scroller} className={css.scroller}>
        {/* biome-ignore lint/a11y/useSemanticElements: a virtual list cannot be a table element */}
        <div role="table" aria-label="Sandboxes" aria-rowcount={rows.length + 1}>
          {/* biome-ignore lint/a11y/useSemanticElements: as above */}
          <div role="row" tabIndex={-1} className={`${css.line} ${css.head}`} aria-rowindex={1}>
            {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: as above */}
            <div role="columnheader" className={css.check}>
              <label>
                <input
                  type="checkbox"
                  aria-label="Select all shown"
                  checked={selected.length > 0 && selected.length === rows.length}
                  onChange={() => setSelection((before) => allOrNone(before, rows))}
                />
              </label>
            </div>
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
              const id = row?.sandbox.sandbox_id
              if (row === undefined || id === undefined) return null
              return (
                <FleetLine
                  key={id}
                  row={row}
                  index={item.index}
                  top={item.start}
                  isSelected={selection.has(id)}
                  failure={bulk.failures.get(id)}
                  onSelect={select}
                />
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
}

/** Keeps the order while the pointer or the focus is inside. The content of the rows still changes. */
function useHeldOrder(rows: readonly FleetRow[], arrangement: string) {
  const [held, setHeld] = useState<{ order: readonly string[]; arrangement: string }>()
  const holders = useRef(new Set<string>())
  const order = useMemo(() => rows.map((row) => row.sandbox.sandbox_id), [rows])
  const isHeld = held !== undefined && held.arrangement === arrangement
  const shown = isHeld ? keepOrder(rows, held.order) : rows
  return {
    shown,
    isStale: isHeld && shown.some((row, index) => row.sandbox.sandbox_id !== order[index]),
    hold: (by: string) => {
      holders.current.add(by)
      setHeld((before) => (before?.arrangement === arrangement ? before : { order, arrangement }))
    },
    /** Without a key: applies the order now and holds it. */
    release: (by?: string) => {
      if (by === undefined) {
        setHeld({ order, arrangement })
        return
      }
      holders.current.delete(by)
      if (holders.current.size === 0) setHeld(undefined)
    },
  }
}
