import { Link } from '@tanstack/react-router'
import { Camera, GitFork, type LucideIcon, RotateCcw, Trash2 } from 'lucide-react'
import { type Branch, titleOf } from '~/store/snapshot-tree'
import { Button } from '~/ui/Button'
import { bytes, plain } from '~/ui/format'
import { When } from '~/ui/When'
import css from './Snapshots.module.css'
import type { Intent } from './SnapshotsPanel'

interface Props {
  readonly branches: readonly Branch[]
  readonly isAlive: boolean
  readonly isBusy: boolean
  readonly onIntent: (intent: Intent) => void
}

/** Snapshots as a tree of parents and children. */
export function Branches({ branches, ...rest }: Props) {
  if (branches.length === 0) return null
  return (
    <ul className={css.tree}>
      {branches.map((branch) => (
        <li key={branch.snapshot.snapshot_id} className={css.branch}>
          <Line branch={branch} {...rest} />
          <Forks branch={branch} />
          <Branches branches={branch.children} {...rest} />
        </li>
      ))}
    </ul>
  )
}

const DEEDS: readonly { kind: 'restore' | 'fork' | 'delete'; icon: LucideIcon; words: string; name: string }[] = [
  { kind: 'restore', icon: RotateCcw, words: 'Restore it', name: 'Restore' },
  { kind: 'fork', icon: GitFork, words: 'Fork another thread from it', name: 'Fork' },
  { kind: 'delete', icon: Trash2, words: 'Delete it', name: 'Delete' },
]

function Line({ branch, isAlive, isBusy, onIntent }: Omit<Props, 'branches'> & { branch: Branch }) {
  const { snapshot, isCurrent } = branch
  const title = plain(titleOf(snapshot))
  return (
    <div className={css.line} data-current={isCurrent || undefined}>
      <Camera size={16} aria-hidden className={css.icon} />
      <strong className={css.title}>{title}</strong>
      {isCurrent && <span className={css.current}>current files are based on it</span>}
      <span className={css.facts}>
        <When at={snapshot.created_at} /> · {bytes(snapshot.bytes)}
      </span>
      <span className={css.actions}>
        {DEEDS.filter((deed) => isAlive || deed.kind !== 'restore').map(({ kind, icon, words, name }) => (
          <Button
            key={kind}
            look="quiet"
            compact
            icon={icon}
            disabled={isBusy}
            title={words}
            onClick={() => onIntent({ kind, of: snapshot })}
          >
            {`${name} ${title}`}
          </Button>
        ))}
      </span>
    </div>
  )
}

function Forks({ branch }: { branch: Branch }) {
  if (branch.forks.length === 0) return null
  return (
    <ul className={css.tree}>
      {branch.forks.map((fork) => (
        <li key={fork.sandbox_id} className={css.branch}>
          <div className={css.line}>
            <GitFork size={16} aria-hidden className={css.icon} />
            <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: fork.sandbox_id }}>
              {plain(fork.thread_id)}
            </Link>
            <span className={css.facts}>another thread</span>
          </div>
        </li>
      ))}
    </ul>
  )
}
