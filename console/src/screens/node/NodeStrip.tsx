import { useQuery } from '@tanstack/react-query'
import { CircleAlert, TriangleAlert } from 'lucide-react'
import { sentence } from '~/api/problem'
import { plain } from '~/ui/format'
import { type Sign, signs } from './health'
import css from './NodeStrip.module.css'
import { nodeQuery } from './use-node'

/** State of the server and its machine in one line. */
export function NodeStrip() {
  const { data: node, error } = useQuery(nodeQuery)
  if (node === undefined) {
    return error ? <p className={css.unknown}>The state of the server could not be loaded: {sentence(error)}</p> : null
  }
  return (
    <section className={css.strip} aria-label="Server">
      <ul className={css.signs}>
        {signs(node).map((sign) => (
          <SignItem key={sign.name} sign={sign} />
        ))}
        <li className={css.about}>
          {node.version} · {node.provider.name} · {node.store}
        </li>
      </ul>
    </section>
  )
}

function SignItem({ sign: { name, value, tone, why, used } }: { sign: Sign }) {
  const Icon = tone === 'bad' ? CircleAlert : TriangleAlert
  return (
    <li className={css.sign} data-tone={tone} title={why === undefined ? undefined : plain(why)}>
      {tone && <Icon size={14} aria-hidden />}
      <span className={css.value}>{value}</span>
      <span className={css.name}>{name}</span>
      {used !== undefined && <meter className={css.meter} min={0} max={1} value={used} aria-hidden />}
      {why && <span className="visually-hidden">: {plain(why)}</span>}
    </li>
  )
}
