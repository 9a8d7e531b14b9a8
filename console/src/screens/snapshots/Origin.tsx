import { Link } from '@tanstack/react-router'
import { CornerDownRight } from 'lucide-react'
import type { Snapshots } from '~/store/snapshot-tree'
import { useFleet } from '../frame/fleet-context'
import css from './Snapshots.module.css'

/** The snapshot from which this thread was forked, if any. */
export function Origin({ from }: { from: NonNullable<Snapshots['forked_from']> }) {
  const { fleet } = useFleet()
  const parent = fleet.rows.find(
    ({ sandbox }) => sandbox.thread_id === from.thread_id && sandbox.user_id === from.user_id,
  )?.sandbox.sandbox_id
  return (
    <p className={css.origin}>
      <CornerDownRight size={16} aria-hidden />
      <span>
        Forked from{' '}
        {parent ? (
          <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: parent }} search={{ tab: 'snapshots' }}>
            {from.thread_id}
          </Link>
        ) : (
          (from.thread_id ?? 'a snapshot that was deleted or is not shared with you')
        )}
        , snapshot <code>{from.snapshot_id}</code>
      </span>
    </p>
  )
}
