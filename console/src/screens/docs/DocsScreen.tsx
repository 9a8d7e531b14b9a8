import { useQuery } from '@tanstack/react-query'
import { Sprout } from 'lucide-react'
import { useDeferredValue, useEffect, useState } from 'react'
import {
  byGroup,
  type Field,
  matching,
  type OpenApi,
  type Operation,
  operations,
  type Reply,
} from '~/store/api-reference'
import Markdown from '~/ui/Markdown'
import { Empty, Failure, Skeleton } from '~/ui/States'
import css from './DocsScreen.module.css'

async function load(): Promise<readonly Operation[]> {
  const answer = await fetch('/openapi.json')
  if (!answer.ok) throw new Error(`The server answered ${answer.status} for /openapi.json.`)
  return operations((await answer.json()) as OpenApi)
}

/** The reference of the HTTP API, from the document of this server. Needs no sign-in. */
export function DocsScreen() {
  const { data, error, refetch } = useQuery({
    queryKey: ['openapi'],
    queryFn: load,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [query, setQuery] = useState('')
  const deferred = useDeferredValue(query)

  useEffect(() => {
    document.title = 'API · Vivarium'
    // The element that the address names exists only after the load.
    if (data && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [data])

  if (error) return <Failure isPage error={error} onRetry={() => void refetch()} />
  const shown = matching(data ?? [], deferred)
  return (
    <div className={css.page}>
      <nav className={css.index} aria-label="Operations">
        <a href="/console" className={css.brand}>
          <Sprout size={22} aria-hidden /> Vivarium API
        </a>
        <input
          type="search"
          className={css.search}
          placeholder="Find an operation"
          aria-label="Find an operation"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        {byGroup(shown).map(([name, all]) => (
          <section key={name}>
            <h2>{name}</h2>
            <ul>
              {all.map((one) => (
                <li key={one.id}>
                  <a href={`#${one.id}`}>{one.title}</a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      <main className={css.operations}>
        <h1>HTTP API</h1>
        <p className={css.muted}>
          Send the key as <code>Authorization: Bearer KEY</code>. The whole document is at{' '}
          <a href="/openapi.json">/openapi.json</a>.
        </p>
        {!data && <Skeleton rows={12} label="Loading the API" />}
        {data && shown.length === 0 && <Empty title="No results" />}
        {shown.map((one) => (
          <OperationPart key={one.id} operation={one} />
        ))}
      </main>
    </div>
  )
}

function OperationPart({ operation }: { operation: Operation }) {
  return (
    <article id={operation.id} className={css.operation}>
      <h2>{operation.title}</h2>
      <p className={css.line}>
        <b className={css.method} data-method={operation.method}>
          {operation.method}
        </b>
        <code>{operation.path}</code>
        {!operation.needsCredential && <span className={css.muted}>no credential</span>}
      </p>
      {operation.about && <Markdown>{operation.about}</Markdown>}
      <Fields title="Parameters" fields={operation.parameters} />
      <Fields title="Body" fields={operation.body} />
      <h3>Responses</h3>
      {operation.replies.map((reply) => (
        <ReplyPart key={reply.status} reply={reply} />
      ))}
    </article>
  )
}

function ReplyPart({ reply }: { reply: Reply }) {
  const words = (
    <>
      <b>{reply.status}</b> <span className={css.muted}>{reply.about}</span>
    </>
  )
  if (reply.fields.length === 0) return <p className={css.reply}>{words}</p>
  return (
    <details className={css.reply}>
      <summary>{words}</summary>
      <Fields title={reply.mediaType} fields={reply.fields} />
    </details>
  )
}

function Fields({ title, fields }: { title: string; fields: readonly Field[] }) {
  if (fields.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <table className={css.fields}>
        <tbody>
          {fields.map((field, index) => (
            <tr key={`${field.name}-${index}`}>
              <th scope="row" data-depth={field.depth}>
                <code>{field.name}</code>
                {!field.isRequired && <span className={css.muted}> optional</span>}
              </th>
              <td>
                <code className={css.muted}>{field.type}</code>
                {field.where === 'query' && <span className={css.muted}> in the query</span>}
                {field.about && <Markdown>{field.about}</Markdown>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
