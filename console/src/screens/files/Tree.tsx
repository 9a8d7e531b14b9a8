import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, File, FileSymlink, Folder, FolderOpen } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import type { FileTree, TreeRow } from '~/store/file-tree'
import { parentOf } from '~/store/file-tree'
import { ago, bytes, plain } from '~/ui/format'
import { useNow } from '~/ui/now'
import { useNotifier } from '~/ui/use-notifier'
import css from './Tree.module.css'
import { TypeAhead } from './type-ahead'
import { useDrop } from './use-drop'

const ROW_PX = 28
const OVERSCAN = 12
const INDENT_PX = 14
/** Time in which a change counts as recent. */
const FRESH_MS = 60_000
const PAGE = 12

interface Props {
  readonly tree: FileTree
  readonly filter: string
  readonly chosen: string | undefined
  /** The row that shortcuts and actions apply to. */
  readonly active: string | undefined
  readonly onActive: (path: string) => void
  readonly onOpen: (path: string) => void
  readonly onDrop: ((folder: string, items: DataTransfer) => void) | undefined
  readonly hasDraft: (path: string) => boolean
  /** Shown for an empty workspace. Files can be dropped on it. */
  readonly empty: ReactNode
}

/** The files as a tree, for mouse and keyboard. Renders only the visible rows. */
export function Tree({ tree, filter, chosen, active, onActive, onOpen, onDrop, hasDraft, empty }: Props) {
  useNotifier(tree.notifier)
  const now = useNow()
  const rows = tree.rows(filter)
  const scroller = useRef<HTMLDivElement>(null)
  const at = Math.max(
    0,
    rows.findIndex((row) => row.entry.path === active),
  )
  const keepActive = useCallback(
    (range: Range) =>
      [...new Set([...defaultRangeExtractor(range), at])].filter((i) => i < range.count).sort((a, b) => a - b),
    [at],
  )
  const list = useVirtualizer<HTMLDivElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.entry.path ?? index,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    // The focused row stays rendered, otherwise the focus is lost.
    rangeExtractor: keepActive,
  })
  const [target, drop] = useDrop(onDrop)
  const move = useMove(scroller, rows, onActive, (index) => list.scrollToIndex(index))
  const onKeyDown = useTreeKeys(tree, rows, at, move, onOpen)

  return (
    <div ref={scroller} className={css.scroller} data-target={target === '' || undefined} {...drop}>
      <div role="tree" aria-label="Files" className={css.tree} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index]
          if (row === undefined) return null
          const { path } = row.entry
          return (
            <div
              key={item.key}
              role="treeitem"
              aria-level={row.level}
              aria-setsize={row.siblings}
              aria-posinset={row.position}
              aria-expanded={row.isExpanded}
              aria-selected={path === chosen}
              tabIndex={item.index === at ? 0 : -1}
              className={css.row}
              data-path={path}
              data-folder={row.isExpanded === undefined ? parentOf(path) : path}
              data-target={(target !== undefined && target !== '' && path === target) || undefined}
              style={{ transform: `translateY(${item.start}px)`, paddingLeft: (row.level - 1) * INDENT_PX + 6 }}
              onFocus={() => onActive(path)}
              onClick={() => activate(tree, row, onOpen)}
              onKeyDown={onKeyDown}
            >
              <Line row={row} mark={tree.mark(path)} now={now} isDraft={hasDraft(path)} />
            </div>
          )
        })}
      </div>
      {tree.isEmpty && empty}
    </div>
  )
}

interface LineProps {
  readonly row: TreeRow
  readonly mark: ReturnType<FileTree['mark']>
  readonly now: number
  readonly isDraft: boolean
}

function Line({ row, mark, now, isDraft }: LineProps) {
  const { entry, isExpanded } = row
  const isFresh = mark !== undefined && now - mark.at < FRESH_MS
  const Icon = entry.type === 'link' ? FileSymlink : isExpanded === undefined ? File : isExpanded ? FolderOpen : Folder
  return (
    <>
      <ChevronRight size={14} aria-hidden className={css.chevron} data-state={chevronOf(isExpanded)} />
      <Icon size={15} aria-hidden className={css.icon} />
      <span className={css.name}>{plain(entry.name)}</span>
      {isDraft && <span className={css.draft}>not saved</span>}
      {row.isLoading && <span className={css.aside}>loading…</span>}
      {row.problem !== undefined && <span className={css.bad}>cannot be read</span>}
      {mark && mark.how !== 'deleted' && (
        <span className={css.mark} data-how={mark.how} data-fresh={isFresh || undefined}>
          {isFresh ? ago(Math.max(0, now - mark.at)) : ''}
          <abbr title={mark.how === 'created' ? 'new' : 'changed'}>{mark.how === 'created' ? 'A' : 'M'}</abbr>
        </span>
      )}
      {entry.type === 'file' && mark === undefined && <span className={css.size}>{bytes(entry.size)}</span>}
    </>
  )
}

function chevronOf(isExpanded: boolean | undefined): string {
  return isExpanded === undefined ? 'none' : isExpanded ? 'open' : 'shut'
}

function activate(tree: FileTree, row: TreeRow, onOpen: (path: string) => void): void {
  if (row.isExpanded === undefined) onOpen(row.entry.path)
  else if (row.isExpanded) tree.collapse(row.entry.path)
  else void tree.expand(row.entry.path)
}

/** Moves the focus to another row after it is rendered. */
function useMove(
  scroller: React.RefObject<HTMLElement | null>,
  rows: readonly TreeRow[],
  onActive: (path: string) => void,
  scrollTo: (index: number) => void,
): (index: number) => void {
  const [wanted, setWanted] = useState<string>()
  useEffect(() => {
    if (wanted === undefined) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(wanted)}"]`)
    row?.focus({ preventScroll: true })
    if (row) setWanted(undefined)
  })
  return (index) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (row === undefined) return
    onActive(row.entry.path)
    setWanted(row.entry.path)
    scrollTo(rows.indexOf(row))
  }
}

/** Keyboard navigation of a tree: arrows, Home, End, letters, Enter. */
function useTreeKeys(
  tree: FileTree,
  rows: readonly TreeRow[],
  at: number,
  move: (index: number) => void,
  onOpen: (path: string) => void,
) {
  const ahead = useRef(new TypeAhead())
  return (event: KeyboardEvent) => {
    const row = rows[at]
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    const toParent = () => move(rows.findIndex((other) => other.entry.path === parentOf(row.entry.path)))
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(at + PAGE),
      PageUp: () => move(at - PAGE),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => activate(tree, row, onOpen),
      ' ': () => activate(tree, row, onOpen),
      ArrowRight: () => {
        if (row.isExpanded === false) void tree.expand(row.entry.path)
        else if (row.isExpanded) move(at + 1)
      },
      ArrowLeft: () => {
        if (row.isExpanded) tree.collapse(row.entry.path)
        else if (row.level > 1) toParent()
      },
    }
    const known = keys[event.key]
    if (known !== undefined) known()
    else if (event.key.length === 1 && !event.shiftKey) {
      const found = ahead.current.find(
        event.key,
        rows.map((other) => other.entry.name),
        at,
      )
      if (found === undefined) return
      move(found)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
}
