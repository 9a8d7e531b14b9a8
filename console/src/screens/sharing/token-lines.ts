import { allows } from '~/store/scopes'

interface Given {
  readonly endpoints: { readonly http: string }
  readonly thread_id: string
  readonly scopes: readonly string[]
}

/** Shell command that shows the use of the token. It does not contain the token, because shells store their history. */
export function tokenLine({ endpoints, thread_id: thread, scopes }: Given): string {
  const auth = '-H "Authorization: Bearer $TOKEN"'
  const { http } = endpoints
  if (allows(scopes, 'process')) {
    return `curl ${auth} -H 'Content-Type: application/json' ${http}/exec -d '{"command": "ls -la"}'`
  }
  if (allows(scopes, 'fs:ro')) return `curl ${auth} ${http}/files/`
  const server = http.slice(0, http.indexOf('/sandboxes/'))
  if (allows(scopes, 'shell:ro')) {
    const id = http.slice(http.lastIndexOf('/') + 1)
    return `curl -N ${auth} -H 'Accept: text/event-stream' ${server}/api/v1/sandboxes/${id}/events`
  }
  return `curl ${auth} ${server}/threads/${encodeURIComponent(thread)}/snapshots`
}
