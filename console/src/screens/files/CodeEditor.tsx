import { Annotation, Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { nameOf } from '~/store/file-tree'
import { basics, finding, highlight, named, shadowOf, typing } from './editor'
import css from './FileView.module.css'
import { lineEndsOf } from './line-ends'

/** Replaces the content by another version of the file. The user has typed nothing. */
const loaded = Annotation.define<true>()

interface Props {
  readonly path: string
  /** Initial content. Later the editor has its own state, until the version changes. */
  readonly text: string
  readonly version: string
  readonly isReadOnly: boolean
  readonly onEdit: (text: string) => void
  readonly onSave: () => void
}

/** Editor with syntax highlighting, for reading or editing. */
export function CodeEditor({ path, text, version, isReadOnly, onEdit, onSave }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<{ view: EditorView; mode: Compartment; ends: Compartment } | undefined>(undefined)
  const latest = useRef({ text, onEdit, onSave })
  latest.current = { text, onEdit, onSave }

  useEffect(() => {
    if (host.current === null) return
    const root = shadowOf(host.current)
    const mode = new Compartment()
    const ends = new Compartment()
    const told = EditorView.updateListener.of((update) => {
      const isTyped = update.transactions.some((each) => each.docChanged && each.annotation(loaded) === undefined)
      if (isTyped) latest.current.onEdit(update.state.sliceDoc())
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
      extensions: [
        save,
        finding,
        basics,
        mode.of([]),
        ends.of(lineEndsOf(latest.current.text)),
        told,
        named(`Content of ${path}`),
      ],
    })
    editor.current = { view, mode, ends }
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
    if (editor.current === undefined) return
    const { view, ends } = editor.current
    const wanted = latest.current.text
    if (view.state.sliceDoc() === wanted) return
    view.dispatch({ effects: ends.reconfigure(lineEndsOf(wanted)) })
    const all = { from: 0, to: view.state.doc.length, insert: wanted }
    view.dispatch({ changes: all, annotations: loaded.of(true) })
  }, [version])

  return <div ref={host} className={css.code} />
}
