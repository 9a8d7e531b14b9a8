import type { OpenFile } from '~/store/open-file'
import { Button } from '~/ui/Button'
import css from './FileView.module.css'

interface Props {
  readonly file: OpenFile
  readonly isComparing: boolean
  readonly onCompare: () => void
  readonly onReload: () => void
}

/** Reports that the file has changed. The shown content does not change until the user asks for it. */
export function ChangedBar({ file, isComparing, onCompare, onReload }: Props) {
  if (!file.isGone && file.newer === undefined) return null
  const hasDraft = file.draft !== undefined
  return (
    <div role="status" className={css.changed}>
      <p>{file.isGone ? 'The file was deleted in the sandbox.' : 'The file was changed in the sandbox.'}</p>
      {file.newer !== undefined && (
        <Button onClick={onCompare} aria-pressed={isComparing}>
          {isComparing ? 'Back' : 'Compare'}
        </Button>
      )}
      {hasDraft && (
        <Button look="danger" disabled={file.isSaving} onClick={() => void file.overwrite()}>
          {file.isGone ? 'Restore my version' : 'Overwrite with my version'}
        </Button>
      )}
      <Button
        look={hasDraft ? 'danger' : 'plain'}
        onClick={onReload}
        title={hasDraft ? 'Your changes are lost' : undefined}
      >
        {hasDraft ? 'Use the sandbox version' : 'Reload'}
      </Button>
    </div>
  )
}
