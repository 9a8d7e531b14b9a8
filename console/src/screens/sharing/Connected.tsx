import { Activity, Eye, Keyboard, type LucideIcon } from 'lucide-react'
import type { ThreadKey } from '~/api/client'
import type { components } from '~/api/schema'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import { When } from '~/ui/When'
import css from './Sharing.module.css'
import { useConnections } from './use-sharing'

type Connection = components['schemas']['Connections']['connections'][number]

const WAYS: Readonly<Record<Connection['way'], { icon: LucideIcon; words: string }>> = {
  events: { icon: Activity, words: 'reads the timeline' },
  watch: { icon: Eye, words: 'watches a terminal' },
  type: { icon: Keyboard, words: 'is in a terminal' },
}

/** Connected users. */
export function Connected({ thread }: { thread: ThreadKey }) {
  const { data, error, refetch } = useConnections(thread)
  return (
    <Section title="Connected now" about="Open event streams and terminals, including this page.">
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={2} label="Loading the connections" />}
      {data?.connections.length === 0 && <p className={css.quiet}>No connections.</p>}
      {data && (
        <ul className={css.list}>
          {data.connections.map((connection) => {
            const { icon: Icon, words } = WAYS[connection.way]
            return (
              <li key={keyOf(connection)} className={css.person}>
                <strong className={css.name}>{connection.user_id}</strong>
                <span className={css.way}>
                  <Icon size={15} aria-hidden />
                  {words}
                </span>
                <span className={css.quiet}>
                  <When at={connection.since} />
                </span>
                {connection.jti && (
                  <span className={css.quiet}>
                    by token <code>{connection.jti}</code>
                  </span>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}

function keyOf({ user_id: user, way, since, jti = '' }: Connection): string {
  return `${user} ${way} ${since} ${jti}`
}
