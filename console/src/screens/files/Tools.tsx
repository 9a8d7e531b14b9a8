import { FilePlus2, FolderPlus, PencilLine, RefreshCw, Search, Trash2, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { drafts } from '~/store/drafts'
import { parentOf } from '~/store/file-tree'
import type { Workspace } from '~/store/workspace'
import { Button } from '~/ui/Button'
import { plain } from '~/ui/format'
import css from './FilesPanel.module.css'
import { PathDialog, RemoveDialog } from './PathDialogs'
import { useRowKeys } from './use-keys'

interface Props {
  readonly workspace: Workspace
  readonly active: string | undefined
  readonly filter: string
  /** Why files cannot be changed; undefined if they can. */
  readonly whyNot: string | undefined
  readonly onFilter: (filter: string) => void
  readonly onSearch: () => void
  readonly onOpen: (path: string) => void
  readonly onGone: (path: string) => void
}

type Asked = 'file' | 'folder' | 'rename' | 'remove'

/** File actions on the focused row or in its directory. */
export function Tools({ workspace, active, filter, whyNot, onFilter, onSearch, onOpen, onGone }: Props) {
  const { tree, remote, uploads } = workspace
  const [asked, setAsked] = useState<Asked>()
  const input = useRef<HTMLInputElement>(null)
  const entry = active === undefined ? undefined : tree.find(active)
  const folder = entry === undefined ? '' : entry.type === 'directory' ? entry.path : parentOf(entry.path)
  const inside = folder === '' ? '' : `${folder}/`
  const where = folder === '' ? 'in the workspace' : `in ${plain(folder)}`
  const isFixed = whyNot !== undefined
  const isNothing = isFixed || entry === undefined
  const shut = () => setAsked(undefined)
  useRowKeys({ rename: () => !isNothing && setAsked('rename'), remove: () => !isNothing && setAsked('remove') })

  const make = async (path: string) => {
    await remote.write(path, '')
    onOpen(path)
  }
  const rename = async (to: string) => {
    if (entry === undefined) return
    await remote.move(entry.path, to)
    drafts.move(remote.sandboxId, entry.path, to)
    if (entry.type !== 'directory') onOpen(to)
    else onGone(entry.path)
  }
  const remove = async () => {
    if (entry === undefined) return
    await remote.remove(entry.path)
    drafts.remove(remote.sandboxId, entry.path)
    onGone(entry.path)
  }
  return (
    <div className={css.tools}>
      <input
        type="search"
        className={css.filter}
        placeholder="Filter"
        aria-label="Filter the loaded files"
        value={filter}
        onChange={(event) => onFilter(event.target.value)}
      />
      <div className={css.icons}>
        <Button look="quiet" compact icon={Search} title="Go to a file (t)" onClick={onSearch}>
          Go to a file
        </Button>
        <Button
          look="quiet"
          compact
          icon={FilePlus2}
          disabled={isFixed}
          title={whyNot ?? `New file ${where}`}
          onClick={() => setAsked('file')}
        >
          New file
        </Button>
        <Button
          look="quiet"
          compact
          icon={FolderPlus}
          disabled={isFixed}
          title={whyNot ?? `New folder ${where}`}
          onClick={() => setAsked('folder')}
        >
          New folder
        </Button>
        <Button
          look="quiet"
          compact
          icon={Upload}
          disabled={isFixed}
          title={whyNot ?? `Upload ${where}`}
          onClick={() => input.current?.click()}
        >
          Upload
        </Button>
        <Button
          look="quiet"
          compact
          icon={PencilLine}
          disabled={isNothing}
          title={whyNot ?? 'Rename or move (F2)'}
          onClick={() => setAsked('rename')}
        >
          Rename
        </Button>
        <Button
          look="quiet"
          compact
          icon={Trash2}
          disabled={isNothing}
          title={whyNot ?? 'Delete (Del)'}
          onClick={() => setAsked('remove')}
        >
          Delete
        </Button>
        <Button
          look="quiet"
          compact
          icon={RefreshCw}
          title="Reload the directories"
          onClick={() => void tree.refresh()}
        >
          Reload the directories
        </Button>
      </div>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          for (const file of event.target.files ?? []) uploads.add(inside + file.name, file)
          event.target.value = ''
        }}
      />
      {asked === 'file' && <PathDialog title="New file" action="Create" initial={inside} run={make} onClose={shut} />}
      {asked === 'folder' && (
        <PathDialog
          title="New folder"
          action="Create"
          initial={inside}
          run={(path) => remote.makeDirectory(path)}
          onClose={shut}
        />
      )}
      {asked === 'rename' && entry && (
        <PathDialog title="Rename or move" action="Rename" initial={entry.path} run={rename} onClose={shut} />
      )}
      {asked === 'remove' && entry && <RemoveDialog entry={entry} run={remove} onClose={shut} />}
    </div>
  )
}
