import { MergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { nameOf } from '~/store/file-tree'
import { basics, finding, highlight, named, shadowOf, typing } from './editor'
import css from './FileView.module.css'
import { lineEndsOf } from './line-ends'

const LARGEST = 512 * 1024
const MOST_LINES = 10_000

interface Props {
  readonly path: string
  readonly theirs: string
  readonly mine: string
  readonly onEdit: (text: string) => void
}

/** Two versions side by side. The right one is the user's own and editable. */
export function Compare({ path, theirs, mine, onEdit }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ mine, onEdit })
  latest.current = { mine, onEdit }
  const isTooLarge = isLarge(theirs) || isLarge(mine)

  useEffect(() => {
    if (host.current === null || isTooLarge) return
    const root = shadowOf(host.current)
    const told = EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onEdit(update.state.sliceDoc())
    })
    const own = latest.current.mine
    const merge = new MergeView({
      parent: root,
      root,
      a: {
        doc: theirs,
        extensions: [finding, basics, lineEndsOf(theirs), EditorState.readOnly.of(true), named('In the sandbox now')],
      },
      b: { doc: own, extensions: [finding, basics, lineEndsOf(own), typing, told, named('Your version')] },
      diffConfig: { scanLimit: MOST_LINES, timeout: 500 },
      collapseUnchanged: { margin: 3, minSize: 6 },
    })
    merge.dom.style.height = '100%'
    merge.dom.style.overflow = 'auto'
    for (const view of [merge.a, merge.b]) void highlight(view, nameOf(path))
    return () => merge.destroy()
  }, [path, theirs, isTooLarge])

  if (isTooLarge) {
    return <p className={css.notice}>The files are too large to compare. The limit is 512 KiB and 10,000 lines.</p>
  }
  return (
    <div className={css.compare}>
      <div className={css.sides} aria-hidden>
        <span>In the sandbox now</span>
        <span>Your version</span>
      </div>
      <div ref={host} className={css.code} />
    </div>
  )
}

function isLarge(text: string): boolean {
  return text.length > LARGEST || text.split('\n').length > MOST_LINES
}
