import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { nameOf } from '~/store/file-tree'
import { basics, finding, highlight, named, shadowOf, typing } from './editor'
import css from './FileView.module.css'

interface Props {
  readonly path: string
  /** What it shows; afterwards the editor has its own, until there is another version. */
  readonly text: string
  readonly version: string
  readonly isReadOnly: boolean
  readonly onEdit: (text: string) => void
  readonly onSave: () => void
}

/** A file with its colours, to read or to edit. */
export function CodeEditor({ path, text, version, isReadOnly, onEdit, onSave }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<{ view: EditorView; mode: Compartment } | undefined>(undefined)
  const latest = useRef({ text, onEdit, onSave })
  latest.current = { text, onEdit, onSave }

  useEffect(() => {
    if (host.current === null) return
    const root = shadowOf(host.current)
    const mode = new Compartment()
    const told = EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onEdit(update.state.doc.toString())
    })
    const onSave = () => {
      latest.current.onSave()
      return true
    }
    const save = keymap.of([{ key: 'Mod-s', preventDefault: true, stopPropagation: true, run: onSave }])
    const view = new EditorView({
      parent: root,
      root,
      doc: latest.current.text,
      extensions: [save, finding, basics, mode.of([]), told, named(`Content of ${path}`)],
    })
    editor.current = { view, mode }
    void highlight(view, nameOf(path))
    return () => {
      view.destroy()
      editor.current = undefined
    }
  }, [path])

  useEffect(() => {
    if (editor.current === undefined) return
    const { view, mode } = editor.current
    const how = isReadOnly ? [EditorState.readOnly.of(true)] : typing
    view.dispatch({ effects: mode.reconfigure(how) })
    if (!isReadOnly) view.focus()
  }, [isReadOnly])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another version is what it waits for
  useEffect(() => {
    const view = editor.current?.view
    const wanted = latest.current.text
    if (view !== undefined && view.state.doc.toString() !== wanted) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: wanted } })
    }
  }, [version])

  return <div ref={host} className={css.code} />
}
