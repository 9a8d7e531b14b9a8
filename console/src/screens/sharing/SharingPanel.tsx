import type { PanelProps } from '../sandbox/tabs'
import { useIsOwner } from '../sandbox/use-may'
import { Connected } from './Connected'
import { People } from './People'
import { Recent } from './Recent'
import css from './Sharing.module.css'
import { Tokens } from './Tokens'
import { useSharing } from './use-sharing'

/** Members, connected users and recent operations of the sandbox. */
export function SharingPanel({ sandbox }: PanelProps) {
  const sharing = useSharing(sandbox)
  const isOwner = useIsOwner(sandbox)
  return (
    <div className={css.panel}>
      <div className={css.columns}>
        <div className={css.column}>
          <People sandbox={sandbox} sharing={sharing} isOwner={isOwner} />
          {isOwner && <Tokens sandbox={sandbox} sharing={sharing} />}
        </div>
        <div className={css.column}>
          <Connected thread={sandbox} />
          {isOwner && <Recent sandbox={sandbox} />}
        </div>
      </div>
    </div>
  )
}
