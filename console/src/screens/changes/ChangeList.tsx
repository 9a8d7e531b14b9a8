import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { countLines } from '~/store/diff'
import type { Change } from '~/store/file-changes'
import type { Viewed } from '~/store/viewed'
import { plain } from '~/ui/format'
import css from './ChangesPanel.module.css'
import { type Moments, useDiff } from './use-diff'

const ROW_PX = 32
const SIGNS = { added: 'A', modified: 'M', deleted: 'D' } as const

interface Props {
  readonly list: readonly Change[]
  readonly chosen: Change | undefined
  readonly moments: Moments
  readonly viewed: Viewed
  readonly isOutdated: (change: Change) => boolean
  readonly onChoose: (change: Change) => void
}

/** The changed files. The diff of a file is loaded when its row is visible. */
export function ChangeList({ list, chosen, moments, viewed, isOutdated, onChoose }: Props) {
  const scroller = useRef<HTMLElement>(null)
  const rows = useVirtualizer<HTMLElement, Element>({
    count: list.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => list[index]?.path ?? index,
    estimateSize: () => ROW_PX,
    overscan: 4,
  })
  const at = chosen === undefined ? -1 : list.indexOf(chosen)
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at)
  }, [rows, at])
  const done = list.filter((change) => viewed.has(change.path, change.seq)).length
  return (
    <section className={css.list} aria-label="Changed files">
      <p className={css.sum}>
        {list.length === 1 ? '1 file' : `${list.length} files`}
        {done > 0 && `, ${done} viewed`}
      </p>
      <nav ref={scroller} className={css.scroller} aria-label="Files">
        <ul className={css.rows} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((item) => {
            const change = list[item.index]
            if (change === undefined) return null
            const isViewed = viewed.has(change.path, change.seq)
            return (
              <li
                key={item.key}
                className={css.row}
                data-chosen={change === chosen || undefined}
                data-viewed={isViewed || undefined}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <input
                  type="checkbox"
                  aria-label={`Viewed: ${change.path}`}
                  checked={isViewed}
                  onChange={(event) => viewed.set(change.path, change.seq, event.target.checked)}
                />
                <button
                  type="button"
                  className={css.file}
                  aria-current={change === chosen}
                  onClick={() => onChoose(change)}
                >
                  <abbr className={css.sign} data-how={change.how} title={change.how}>
                    {SIGNS[change.how]}
                  </abbr>
                  <span className={css.path} title={change.path}>
                    {/* The end of a path says more than its beginning. */}
                    <bdi>{plain(change.path)}</bdi>
                  </span>
                  {isOutdated(change) && <span className={css.outdated}>outdated</span>}
                  <Counts moments={moments} path={change.path} />
                </button>
              </li>
            )
          })}
        </ul>
      </nav>
    </section>
  )
}

function Counts({ moments, path }: { moments: Moments; path: string }) {
  const { data } = useDiff(moments, path)
  if (data === undefined) return null
  const { plus, minus } = countLines(data)
  return (
    <span className={css.counts}>
      {plus > 0 && <span data-sign="+">+{plus}</span>}
      {minus > 0 && <span data-sign="-">−{minus}</span>}
    </span>
  )
}
