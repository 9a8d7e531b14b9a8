import { type DragEvent, useState } from 'react'

/** The directory below the pointer. */
interface Handlers {
  onDragOver?: (event: DragEvent) => void
  onDragLeave?: (event: DragEvent) => void
  onDrop?: (event: DragEvent) => void
}

/** Accepts files dropped on an element, into the directory of the row below the pointer. */
export function useDrop(
  onDrop: ((folder: string, items: DataTransfer) => void) | undefined,
): readonly [string | undefined, Handlers] {
  const [target, setTarget] = useState<string>()
  if (onDrop === undefined) return [undefined, {}]
  return [
    target,
    {
      onDragOver: (event) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
        setTarget(folderUnder(event))
      },
      onDragLeave: (event) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)))
          setTarget(undefined)
      },
      onDrop: (event) => {
        event.preventDefault()
        setTarget(undefined)
        onDrop(folderUnder(event), event.dataTransfer)
      },
    },
  ]
}

function folderUnder(event: DragEvent): string {
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-folder]') : null
  return row?.dataset.folder ?? ''
}

export interface Dropped {
  /** Relative to the drop target. */
  readonly path: string
  readonly file: File
}

/**
 * The files of a drop, including those in directories. Must be called during the drop event, because the list is empty
 * later.
 */
export async function droppedFiles(items: DataTransfer): Promise<readonly Dropped[]> {
  const found = [...items.items].map((item) => ({ entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }))
  const lists = await Promise.all(
    found.map(async ({ entry, file }) => {
      if (entry?.isDirectory) return walk(entry as FileSystemDirectoryEntry)
      return file === null ? [] : [{ path: file.name, file }]
    }),
  )
  return lists.flat()
}

async function walk(folder: FileSystemDirectoryEntry): Promise<readonly Dropped[]> {
  const reader = folder.createReader()
  const found: Dropped[] = []
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (entries.length === 0) return found
    for (const entry of entries) {
      if (entry.isDirectory) found.push(...(await walk(entry as FileSystemDirectoryEntry)))
      else found.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry as FileSystemFileEntry) })
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
